/** The built command line as a process of its own, for tests. */
import { type ChildProcess, spawn } from "node:child_process";

export interface Run {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: Uint8Array;
  /** Looked at every 10 ms; when it says so, the process gets a signal, SIGINT unless `kill` names another. */
  readonly killWhen?: () => boolean;
  readonly kill?: NodeJS.Signals;
  /** User the process runs as. */
  readonly uid?: number;
}

const main = new URL("../dist/cli/main.js", import.meta.url).pathname;

export function runCli(args: readonly string[], { input, killWhen, kill = "SIGINT", uid }: RunOptions = {}): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(process.execPath, [main, ...args], { stdio: ["pipe", "pipe", "pipe"], uid });
    let [stdout, stderr] = ["", ""];
    child.stdout?.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr?.on("data", (chunk) => {
      stderr += chunk;
    });
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
    const timer = setInterval(() => {
      if (!killWhen?.()) return;
      clearInterval(timer);
      child.kill(kill);
    }, 10);
    child.on("error", reject).on("close", (code, signal) => {
      clearInterval(timer);
      resolve({ code, signal, stdout, stderr });
    });
  });
}
