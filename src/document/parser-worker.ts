/**
 * Node's thread for a parser: documents are opened, pages rendered and cut, and pictures decoded and encoded here. The model computes in a
 * thread of its own beside it, so that the next page is prepared while this one is read.
 */
import { parentPort, workerData } from "node:worker_threads";
import { openaiRecognizer } from "../engine/openai-recognizer.ts";
import { loadWorkerRecognizer } from "../engine/worker-recognizer.ts";
import { parserOf } from "./document-parser.ts";
import type { FromParser, ToParser } from "./parser-messages.ts";
import { serveParser } from "./serve-parser.ts";
import type { ParserStart } from "./worker-parser.ts";

const port = parentPort;
if (!port) throw new Error("internal: the parser's worker was loaded outside a worker thread");

const say = (message: FromParser): void => port.postMessage(message);
const start = workerData as ParserStart;

await serveParser(
  async () => {
    if ("server" in start) return parserOf(await openaiRecognizer(start.server));
    return parserOf(await loadWorkerRecognizer(start.dir, { ...start.sessions, onWarning: (notice) => say({ notice }) }));
  },
  say,
  (answer) => port.on("message", (message: ToParser) => void answer(message)),
);
