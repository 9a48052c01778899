/** The far side of a parser in another thread: loads it and answers what it is asked until it is told to close. Knows no kind of thread. */
import { packError } from "../engine/worker-messages.ts";
import { openSource } from "../image/sources.ts";
import { readDocumentFile } from "./document-file.ts";
import type { Parser } from "./document-parser.ts";
import type { DocumentPage } from "./parser.ts";
import type { Answers, FromParser, Question, ToParser } from "./parser-messages.ts";

type ParseQuestion = Extract<Question, { kind: "parse" }>;

interface Call {
  readonly stop: AbortController;
  parse?: ParseQuestion;
  pages?: AsyncGenerator<DocumentPage, void, undefined>;
}

async function countPages({ input, options: { password } }: ParseQuestion): Promise<number> {
  if (typeof input === "object" && "width" in input) return 1;
  await using source = await openSource(typeof input === "string" ? await readDocumentFile(input) : input, { password });
  return source.pageCount;
}

/** Answers of a loaded parser. */
function answering(parser: Parser, say: (message: FromParser) => void): (message: ToParser) => Promise<void> {
  const calls = new Map<number, Call>();

  const nextPage = async (call: number, entry: Call, pages: readonly number[] | undefined): Promise<DocumentPage | null> => {
    const { input, options, heard } = entry.parse!;
    entry.pages ??= parser.parse(input, {
      ...options,
      ...(pages ? { pages } : {}),
      signal: entry.stop.signal,
      onProgress: heard.progress ? (progress) => say({ call, progress }) : undefined,
      onEvent: heard.events ? (event) => say({ call, event }) : undefined,
    });
    return (await entry.pages.next()).value ?? null;
  };
  const answer = async (call: number, entry: Call, question: Question): Promise<Answers[keyof Answers]> => {
    switch (question.kind) {
      case "decode":
        return parser.decodeImage(question.bytes);
      case "encode":
        return parser.encodePng(question.image);
      case "recognize": {
        const { requests, batchSize, heard } = question;
        const onEvent = heard ? (event: Extract<FromParser, { event: unknown }>["event"]) => say({ call, event }) : undefined;
        return parser.recognize(requests, { batchSize, signal: entry.stop.signal, onEvent });
      }
      case "parse":
        entry.parse = question;
        return null;
      case "count":
        return countPages(entry.parse!);
      case "next":
        return nextPage(call, entry, question.pages);
    }
  };
  const end = async (call: number): Promise<void> => {
    const entry = calls.get(call);
    calls.delete(call);
    entry?.stop.abort(new DOMException("nobody waits for the answer", "AbortError"));
    await entry?.pages?.return().catch(() => undefined);
  };

  return async (message) => {
    if ("close" in message) {
      await Promise.all([...calls.keys()].map(end));
      await parser.close();
      say({ closed: true });
    } else if ("over" in message) await end(message.call);
    else {
      const { call, question } = message;
      const entry = calls.get(call) ?? { stop: new AbortController() };
      calls.set(call, entry);
      try {
        say({ call, answer: await answer(call, entry, question) });
      } catch (error) {
        say({ call, failed: packError(error) });
      }
    }
  };
}

/** Loads a parser and says so; then hands what answers the caller's messages to `hear`. */
export async function serveParser(
  load: () => Promise<Parser>,
  say: (message: FromParser) => void,
  hear: (answer: (message: ToParser) => Promise<void>) => void,
): Promise<void> {
  try {
    const parser = await load();
    hear(answering(parser, say));
    say({ ready: parser.recognizer.info });
  } catch (error) {
    say({ refused: packError(error) });
  }
}
