/**
 * The thread in which documents are opened, pages rendered and cut, and pictures decoded and encoded, for callers whose own thread must never
 * stand still. The model computes in a thread of its own beside it, so that the next page is prepared while this one is read.
 */
import { parentPort, workerData } from "node:worker_threads";
import { openaiRecognizer } from "../engine/openai-recognizer.ts";
import { packError } from "../engine/worker-messages.ts";
import { loadWorkerRecognizer } from "../engine/worker-recognizer.ts";
import { decodeImage } from "../image/decode-image.ts";
import { encodePng } from "../image/encode-png.ts";
import { openSource } from "../image/sources.ts";
import { readDocumentFile } from "./document-file.ts";
import { type Parser, parserOf } from "./document-parser.ts";
import type { DocumentPage } from "./parser.ts";
import type { Answers, FromParser, ParserStart, Question, ToParser } from "./parser-messages.ts";

const port = parentPort;
if (!port) throw new Error("internal: the parser's worker was loaded outside a worker thread");

const say = (message: FromParser): void => port.postMessage(message);

interface Open {
  readonly stop: AbortController;
  parse?: Extract<Question, { kind: "parse" }>;
  pages?: AsyncGenerator<DocumentPage, void, undefined>;
}

async function countPages({ input, options: { password } }: Extract<Question, { kind: "parse" }>): Promise<number> {
  if (typeof input === "object" && "width" in input) return 1;
  await using source = await openSource(typeof input === "string" ? await readDocumentFile(input) : input, { password });
  return source.pageCount;
}

function serve(parser: Parser): void {
  const open = new Map<number, Open>();

  const answer = async (call: number, entry: Open, question: Question): Promise<Answers[keyof Answers]> => {
    const { signal } = entry.stop;
    switch (question.kind) {
      case "decode":
        return decodeImage(question.bytes);
      case "encode":
        return encodePng(question.image);
      case "recognize": {
        const { requests, batchSize, heard } = question;
        return parser.recognize(requests, { batchSize, signal, onEvent: heard ? (event) => say({ call, event }) : undefined });
      }
      case "parse":
        entry.parse = question;
        return null;
      case "count":
        return countPages(entry.parse!);
      case "next": {
        const { input, options, heard } = entry.parse!;
        entry.pages ??= parser.parse(input, {
          ...options,
          ...(question.pages ? { pages: question.pages } : {}),
          signal,
          onProgress: heard.progress ? (progress) => say({ call, progress }) : undefined,
          onEvent: heard.events ? (event) => say({ call, event }) : undefined,
        });
        return (await entry.pages.next()).value ?? null;
      }
    }
  };

  const end = async (call: number): Promise<void> => {
    const entry = open.get(call);
    open.delete(call);
    entry?.stop.abort(new DOMException("nobody waits for the answer", "AbortError"));
    await entry?.pages?.return().catch(() => undefined);
  };

  port?.on("message", async (message: ToParser) => {
    if ("close" in message) {
      await Promise.all([...open.keys()].map(end));
      await parser.close();
      port.close();
    } else if ("over" in message) await end(message.call);
    else {
      const { call, question } = message;
      const entry = open.get(call) ?? { stop: new AbortController() };
      open.set(call, entry);
      try {
        say({ call, answer: await answer(call, entry, question) });
      } catch (error) {
        say({ call, failed: packError(error) });
      }
    }
  });
}

const start = workerData as ParserStart;
try {
  const recognizer = await ("server" in start
    ? openaiRecognizer(start.server)
    : loadWorkerRecognizer(start.dir, { ...start.sessions, onWarning: (warning) => say({ warning }) }));
  serve(parserOf(recognizer));
  say({ ready: recognizer.info });
} catch (error) {
  say({ refused: packError(error) });
}
