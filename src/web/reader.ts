/**
 * What the page does: keeps an engine, reads documents with it, reads a page once more without diffusion for comparison, and tells in words
 * what goes on. Events come faster than screens are drawn, so they are gathered for each picture.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { AssemblyOptions, FetchProgress, Parser } from "../browser.ts";
import { connect, describe, type Engine, firstEngine } from "./backend.ts";
import { advance, newReading, type Reading, type ReadingEvent, type Settings } from "./reading.ts";

/** Candidates kept of each position. */
const CANDIDATES = 4;

export interface ReaderState {
  readonly engine: Engine;
  /** What computes, once it is there. */
  readonly engineName: string | null;
  /** How its answers become blocks: weights that break lines where the page does have their lines joined. */
  readonly assembly: AssemblyOptions;
  readonly reading: Reading | null;
  /** Pages read token by token, for comparison; each on its own. */
  readonly rivals: ReadonlyMap<number, Reading>;
  readonly busy: "reading" | "comparing" | null;
  /** For people, and for screen readers. */
  readonly status: string;
  readonly download: FetchProgress | null;
  readonly error: string | null;
}

export interface Reader extends ReaderState {
  open(file: File, settings: Settings): void;
  readAgain(settings: Settings): void;
  compare(page: number): void;
  stop(): void;
  choose(engine: Engine): void;
}

const initial: ReaderState = {
  engine: firstEngine,
  engineName: null,
  assembly: {},
  reading: null,
  rivals: new Map(),
  busy: null,
  status: "",
  download: null,
  error: null,
};

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

export function useReader(): Reader {
  const [state, setState] = useState(initial);
  const patch = useCallback((change: Partial<ReaderState>) => setState((before) => ({ ...before, ...change })), []);
  const parser = useRef<{ readonly engine: Engine; readonly loading: Promise<Parser> } | null>(null);
  const source = useRef<{ readonly name: string; readonly bytes: Uint8Array } | null>(null);
  const work = useRef<AbortController | null>(null);
  const engine = state.engine;

  useEffect(() => () => work.current?.abort(), []);

  const parserFor = async (wanted: Engine): Promise<Parser> => {
    if (parser.current?.engine !== wanted) {
      void parser.current?.loading.then((old) => old.close()).catch(() => undefined);
      patch({ status: "Fetching the model.", engineName: null });
      const loading = connect(wanted, {
        signal: new AbortController().signal,
        onDownload: (download) => patch({ download }),
        onWarning: () => undefined,
      });
      parser.current = { engine: wanted, loading };
    }
    const entry = parser.current!;
    try {
      const loaded = await entry.loading;
      patch({
        download: null,
        engineName: describe(loaded, wanted),
        assembly: { unwrap: loaded.recognizer.info.profile.printedLineBreaks },
      });
      return loaded;
    } catch (error) {
      if (parser.current === entry) parser.current = null;
      throw error;
    }
  };

  /** Reads `pages` of the document (all if null), handing on how it goes. */
  const read = async (
    settings: Settings,
    pages: readonly number[] | null,
    signal: AbortSignal,
    follow: (changes: readonly ReadingEvent[]) => void,
  ): Promise<void> => {
    const loaded = await parserFor(engine);
    signal.throwIfAborted();
    let gathered: ReadingEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | null = null;
    const flush = (): void => {
      timer = null;
      const changes = gathered;
      gathered = [];
      follow(changes);
    };
    const gather = (change: ReadingEvent): void => {
      gathered.push(change);
      timer ??= setTimeout(flush, 30);
    };
    let began = performance.now();
    try {
      for await (const page of loaded.parse(source.current!.bytes, {
        ...(pages ? { pages } : {}),
        signal,
        keepTokens: true,
        decoding: {
          blockLength: settings.blockLength,
          rule: { strategy: "low_confidence_dynamic", threshold: settings.threshold },
          record: { candidates: CANDIDATES },
        },
        onEvent: (event) => {
          if (event.kind === "layout") began = performance.now();
          gather({ kind: "page event", event });
        },
        onProgress: ({ stage, page: index, pages: of, regions }) => {
          if (stage === "read") patch({ status: `Page ${index + 1} of ${of}: reading ${plural(regions ?? 0, "region")}.` });
          else if (stage === "render") patch({ status: `Page ${index + 1} of ${of}: opening.` });
        },
      }))
        gather({ kind: "page read", page, milliseconds: performance.now() - began });
    } finally {
      if (timer) clearTimeout(timer);
      if (!signal.aborted) flush();
    }
  };

  const begin = async (busy: "reading" | "comparing", task: (signal: AbortSignal) => Promise<string>): Promise<void> => {
    work.current?.abort();
    const controller = new AbortController();
    work.current = controller;
    patch({ busy, error: null });
    try {
      patch({ status: await task(controller.signal), busy: null });
    } catch (error) {
      if (work.current !== controller) return;
      const end = controller.signal.aborted ? { status: "Stopped." } : { status: "", error: (error as Error).message };
      // A document of which nothing was seen leaves the start as it was.
      setState((before) => ({
        ...before,
        ...end,
        busy: null,
        download: null,
        reading: before.reading?.pages.length ? before.reading : null,
      }));
    }
  };

  const readAll = (settings: Settings): void => {
    void begin("reading", async (signal) => {
      const began = performance.now();
      let reading = newReading(source.current!.name, settings);
      patch({ reading, rivals: new Map() });
      await read(settings, null, signal, (changes) => {
        reading = changes.reduce(advance, reading);
        patch({ reading });
      });
      return `${plural(reading.pages.length, "page")} read in ${seconds(performance.now() - began)}.`;
    });
  };

  return {
    ...state,
    open: (file, settings) => {
      void file.arrayBuffer().then(
        (buffer) => {
          source.current = { name: file.name, bytes: new Uint8Array(buffer) };
          readAll(settings);
        },
        (error) => patch({ error: `${file.name} cannot be read: ${(error as Error).message}` }),
      );
    },
    readAgain: readAll,
    compare: (page) => {
      const settings = { blockLength: 1, threshold: state.reading!.settings.threshold };
      void begin("comparing", async (signal) => {
        let rival = newReading(source.current!.name, settings);
        await read(settings, [page], signal, (changes) => {
          rival = changes.reduce(advance, rival);
          setState((before) => ({ ...before, rivals: new Map(before.rivals).set(page, rival) }));
        });
        return `Page ${page + 1} read token by token in ${seconds(rival.pages[0].milliseconds)}.`;
      });
    },
    stop: () => work.current?.abort(),
    choose: (wanted) => patch({ engine: wanted, error: null }),
  };
}
