/** `mcp`: documents as tools on standard input and output, until the assistant hangs up. The model is loaded when it is first needed. */
import { once } from "node:events";
import { load, type Parser } from "../index.ts";
import { mcpServers } from "../server/mcp.ts";
import { loadOptionsOf, type ModelFlags } from "./arguments.ts";
import { version } from "./version.ts";

export interface McpFlags extends ModelFlags {
  readonly root: readonly string[];
}

export async function mcpCommand(flags: McpFlags, signal: AbortSignal): Promise<number> {
  const options = loadOptionsOf(flags);
  let loading: Promise<Parser> | undefined;
  const parser = (): Promise<Parser> => {
    loading ??= load(options);
    // A checkpoint that was missing may be there the next time.
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };
  const factory = await mcpServers({ parser, roots: flags.root, version });
  const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
  const hungUp = Promise.race([once(process.stdin, "end"), once(process.stdin, "close")]);
  const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  const connection = serveStdio(factory);
  await Promise.race([hungUp, stopped]);
  await connection.close();
  await (await loading?.catch(() => undefined))?.close();
  return 0;
}
