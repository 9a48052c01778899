/** The whole page: a place to drop a file, and then the page beside what was read on it and how. */
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { AssemblyOptions } from "../browser.ts";
import { AnswerView } from "./answer-view.tsx";
import { served } from "./backend.ts";
import { EngineForm, SettingsForm } from "./controls.tsx";
import { type DownloadKind, downloadKinds, fileOf, markdownOf, save } from "./downloads.ts";
import { DropZone } from "./drop-zone.tsx";
import { PageView } from "./page-view.tsx";
import { type Reader, useReader } from "./reader.ts";
import type { PageReading, Reading, Settings } from "./reading.ts";
import { Tabs } from "./tabs.tsx";
import { tracesOf } from "./trace.ts";
import type { Run } from "./trace-pane.tsx";
import { TraceView } from "./trace-view.tsx";

const firstSettings: Settings = { blockLength: 32, threshold: 0.95 };

export function App() {
  const reader = useReader();
  const [settings, setSettings] = useState(firstSettings);
  const { open } = reader;
  const onFile = useCallback((file: File) => open(file, settings), [open, settings]);
  const { reading } = reader;
  return (
    <>
      <header class="top">
        <h1>
          mineru-diffusion <small>{reader.engineName ?? "reads pages by diffusion"}</small>
        </h1>
        {reading && <DropZone compact onFile={onFile} />}
      </header>
      <p class={reader.error || reader.busy ? "status" : "status quiet"} role="status" aria-live="polite">
        {reader.download && reader.download.total > 0
          ? `Fetching the model: ${Math.round((100 * reader.download.loaded) / reader.download.total)} %`
          : reader.status}
      </p>
      {reader.error && (
        <p class="error" role="alert">
          {reader.error}
        </p>
      )}
      <main>
        {reading ? (
          <Workspace reader={reader} reading={reading} settings={settings} onSettings={setSettings} />
        ) : (
          <DropZone compact={false} onFile={onFile}>
            <h2>Drop a PDF or a picture of a page</h2>
            <p>
              Its text starts as a row of masks and crystallises, many positions at a time, in the order the model becomes sure of them.
            </p>
            <p class="note">
              {reader.engine.place === "server"
                ? "Pages are read by the server that shows this page."
                : "Pages are read in this browser. Nothing is uploaded."}
            </p>
            {served && <EngineForm engine={reader.engine} disabled={false} onChange={reader.choose} />}
          </DropZone>
        )}
      </main>
    </>
  );
}

interface WorkspaceProps {
  readonly reader: Reader;
  readonly reading: Reading;
  readonly settings: Settings;
  onSettings(settings: Settings): void;
}

function Workspace({ reader, reading, settings, onSettings }: WorkspaceProps) {
  const [place, setPlace] = useState(0);
  const [selected, setSelected] = useState<number | null>(null);
  const [tab, setTab] = useState("text");
  const [calls, setCalls] = useState(0);
  const [markDoubtful, setMarkDoubtful] = useState(false);
  useEffect(() => {
    setPlace(0);
    setSelected(null);
    setTab("text");
  }, [reading.name]);
  const page = reading.pages[Math.min(place, reading.pages.length - 1)];
  if (!page) return <p class="hint">Opening {reading.name}…</p>;

  const region = selected ?? firstTraced(page);
  const changed = settings.blockLength !== reading.settings.blockLength || settings.threshold !== reading.settings.threshold;
  const done = reading.pages.some(({ parsed }) => parsed !== null);
  const { assembly } = reader;
  const download = (kind: DownloadKind): void => void fileOf(kind, reading, assembly).then(save);

  return (
    <>
      <div class="bar">
        <SettingsForm settings={settings} onChange={onSettings} />
        <EngineForm engine={reader.engine} disabled={reader.busy !== null} onChange={reader.choose} />
        {reader.busy ? (
          <button type="button" onClick={reader.stop}>
            Stop
          </button>
        ) : (
          <button type="button" class={changed ? "primary" : ""} onClick={() => reader.readAgain(settings)}>
            Read again
          </button>
        )}
        <div class="downloads" role="group" aria-label="Download">
          {downloadKinds.map((kind) => (
            <button key={kind} type="button" disabled={!done} onClick={() => download(kind)} aria-label={`Download ${kind}`}>
              {kind}
            </button>
          ))}
        </div>
      </div>
      <div class="workspace">
        <PageView
          page={page}
          pageCount={Math.max(reading.pageCount, reading.pages.length)}
          place={Math.min(place, reading.pages.length - 1)}
          places={reading.pages.length}
          selected={region}
          onPlace={(next) => {
            setPlace(next);
            setSelected(null);
          }}
          onSelect={(next) => {
            setSelected(next);
            setTab("steps");
            setCalls((before) => before + 1);
          }}
        />
        <Tabs
          label="What was read"
          chosen={tab}
          call={calls}
          onChoose={setTab}
          tabs={[
            {
              id: "text",
              title: "Text",
              content: () => (
                <>
                  <AnswerView reading={reading} page={page} assembly={assembly} selected={selected} markDoubtful={markDoubtful} />
                  <label class="check">
                    <input type="checkbox" checked={markDoubtful} onChange={(event) => setMarkDoubtful(event.currentTarget.checked)} />
                    Mark passages the model was not sure of
                  </label>
                </>
              ),
            },
            { id: "markdown", title: "Markdown", content: () => <MarkdownSource reading={reading} assembly={assembly} /> },
            { id: "steps", title: "Steps", content: () => <Steps reader={reader} page={page} reading={reading} region={region} /> },
          ]}
        />
      </div>
    </>
  );
}

/** The first region that has something to show. */
function firstTraced({ regions }: PageReading): number | null {
  const place = regions?.findIndex(({ results }) => results.some((result) => tracesOf(result).length > 0)) ?? -1;
  return place < 0 ? null : place;
}

function MarkdownSource({ reading, assembly }: { readonly reading: Reading; readonly assembly: AssemblyOptions }) {
  const text = useMemo(() => markdownOf(reading, assembly), [reading, assembly]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <section class="source" tabIndex={0} aria-label="Markdown">
      <pre>{text}</pre>
    </section>
  );
}

interface StepsProps {
  readonly reader: Reader;
  readonly reading: Reading;
  readonly page: PageReading;
  readonly region: number | null;
}

function Steps({ reader, reading, page, region }: StepsProps) {
  const rival = reader.rivals.get(page.index);
  const runs = useMemo(() => {
    if (region === null) return [];
    const runOf = (name: string, from: PageReading | undefined): Run[] => {
      const traces = from?.regions?.[region]?.results.flatMap(tracesOf) ?? [];
      return traces.length > 0 ? [{ name, traces, milliseconds: from!.milliseconds }] : [];
    };
    const { blockLength } = reading.settings;
    const name = blockLength === 1 ? "Autoregression" : `Diffusion, blocks of ${blockLength}`;
    return [...runOf(name, page), ...runOf("Autoregression, token by token", rival?.pages[0])];
  }, [page, region, rival, reading.settings]);
  if (region === null || runs.length === 0)
    return (
      <p class="hint">
        {page.parsed
          ? "There is no recording of this region. Choose another on the page."
          : "Steps can be walked through once a region is read."}
      </p>
    );
  const comparable = reading.settings.blockLength > 1 && runs.length === 1 && page.parsed !== null;
  return (
    <TraceView
      runs={runs}
      about={`${reading.name} ${page.index} ${region}`}
      comparing={reader.busy === "comparing"}
      {...(comparable && reader.busy === null ? { onCompare: () => reader.compare(page.index) } : {})}
    />
  );
}
