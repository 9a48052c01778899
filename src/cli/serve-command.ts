/** `serve`: the model behind HTTP, until it is told to stop. */
import { load, loadTokenText } from "../index.ts";
import { isLoopback } from "../server/access.ts";
import { createServerApp } from "../server/app.ts";
import { listen } from "../server/listen.ts";
import { builtWebPage } from "../server/web-page.ts";
import { loadOptionsOf, type ModelFlags } from "./arguments.ts";
import { version } from "./version.ts";

export interface ServeFlags extends ModelFlags {
  readonly host: string;
  readonly port: number;
  readonly apiKey?: string;
  /** Megabytes of 1024² bytes. */
  readonly maxUpload: number;
  readonly concurrency: number;
  readonly queue: number;
  /** Seconds. */
  readonly timeout: number;
  readonly quiet?: boolean;
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** What the log gets of a failure nobody foresaw: all of it. */
function described(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by ${described(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}

export async function serveCommand(flags: ServeFlags, signal: AbortSignal): Promise<number> {
  const { host, port } = flags;
  const apiKey = flags.apiKey ?? (process.env.MINERU_DIFFUSION_API_KEY || undefined);
  const options = loadOptionsOf(flags);
  // Requests must be heard and answered whatever is being read.
  await using parser = await load({ ...options, thread: "pages" });
  const app = createServerApp({
    parser,
    version,
    // A server that asks another one sees no tokens.
    textOfTokens: options.server ? undefined : await loadTokenText(options.model),
    apiKey,
    loopback: isLoopback(host),
    webPage: builtWebPage(),
    uploadBytes: Math.round(flags.maxUpload * 1024 ** 2),
    atOnce: flags.concurrency,
    queue: flags.queue,
    timeoutMs: Math.round(flags.timeout * 1000),
    onRequest: flags.quiet ? undefined : (line) => say(`${new Date().toISOString()} ${line}`),
    onError: (error) => say(`mineru-diffusion: ${described(error)}`),
  });
  signal.addEventListener("abort", () => say("finishing what was taken; interrupt again to stop at once"), { once: true });
  await listen(app, {
    host,
    port,
    signal,
    onListening: (url) => {
      say(`serving ${parser.recognizer.info.name} on ${url} (${url}/docs)`);
      if (!isLoopback(host) && apiKey === undefined) say("anyone who reaches this address may use it: --api-key keeps others out");
    },
  });
  return 0;
}
