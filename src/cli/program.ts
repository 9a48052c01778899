/** The commands and their flags. */
import { Command } from "commander";
import { taskNames } from "../index.ts";
import { blockLengthChoice, numberBetween, oneOf, pageRanges, strategyChoice } from "./arguments.ts";
import { addCompletionCommand } from "./completion-command.ts";
import { addDoctorCommand } from "./doctor-command.ts";
import { addEvalCommand } from "./eval-command.ts";
import { addModelsCommand } from "./models-command.ts";
import { type FormulaStyle, formulaStyles, parseCommand } from "./parse-command.ts";
import { addQueueCommand } from "./queue-command.ts";
import { recognizeCommand } from "./recognize-command.ts";
import { addTrainCommand } from "./train-command.ts";
import { version } from "./version.ts";

export interface ProgramResult {
  readonly exitCode?: number;
}

function withModel(command: Command): Command {
  return command
    .option("--model <dir>", "checkpoint folder (default: the embedded mini)")
    .option("--device <name>", "auto, cpu, webgpu or cuda", oneOf("auto", "cpu", "webgpu", "cuda"))
    .option("--precision <name>", "auto, float32, int8, int8-tensor or int4", oneOf("auto", "float32", "int8", "int8-tensor", "int4"))
    .option("--threads <n>", "threads of one operation", numberBetween(1, 1024, { whole: true }))
    .option("--engine <name>", "local, or openai: ask the server at --server-url", oneOf("local", "openai"))
    .option("--server-url <url>", "OpenAI-compatible server that holds the model, such as http://127.0.0.1:30000")
    .option("--server-model <name>", "its model, where it lists several")
    .option("--server-key <text>", "its API key (default: $MINERU_VL_API_KEY)")
    .option("--server-concurrency <n>", "questions to it at once (default 8)", numberBetween(1, 1024, { whole: true }));
}

function withDecoding(command: Command): Command {
  return command
    .option("--threshold <number>", "commit every position above this confidence", numberBetween(0, 1))
    .option("--block-length <n>", 'positions per block; 1 is autoregression, "answer" is one block', blockLengthChoice)
    .option("--strategy <name>", "commit rule", strategyChoice)
    .option("--gamma <number>", "entropy budget of entropy_bounded", numberBetween(0, 1000))
    .option("--factor <number>", "of the factor rule", numberBetween(0, 1000))
    .option("--steps <n>", "steps a block may take at most", numberBetween(1, 4096, { whole: true }))
    .option("--temperature <number>", "0 is greedy", numberBetween(0, 100))
    .option("--seed <n>", "of sampling", numberBetween(0, Number.MAX_SAFE_INTEGER, { whole: true }))
    .option("--max-tokens <n>", "tokens of one answer at most", numberBetween(1, 32768, { whole: true }));
}

const withBoth = (command: Command): Command => withDecoding(withModel(command));
const formulaChoices = Object.keys(formulaStyles) as FormulaStyle[];
const collected = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** The program; actions run until `signal` is aborted. */
export function createProgram(signal: AbortSignal): { parseAsync(argv: readonly string[]): Promise<ProgramResult> } {
  let exitCode: number | undefined;
  const program = new Command("mineru-diffusion")
    .description("Reads document pages by block-wise diffusion decoding.")
    .version(version)
    .exitOverride()
    .showHelpAfterError("(--help lists the options)");

  withBoth(
    program
      .command("parse")
      .description("PDFs and images to Markdown")
      .argument("<file...>", "PDF, PNG, JPEG, WebP, TIFF, GIF or BMP, folders of them, patterns; - is standard input")
      .option("-o, --output <dir>", "write DIR/<name>/ for each file instead of standard output")
      .option("--format <name>", "what standard output gets", oneOf("md", "json", "content-list", "middle", "html", "ndjson"), "md")
      .option("--pages <ranges>", "such as 1-3,7,10-", pageRanges)
      .option("--password <text>", "of an encrypted PDF")
      .option("--dpi <n>", "resolution PDF pages are read at", numberBetween(36, 1200))
      .option("--tables <form>", "html, markdown, or auto: Markdown where no cell spans places", oneOf("html", "markdown", "auto"), "html")
      .option(
        "--formulas <style>",
        "$ $, \\\\( \\\\) or $` `$ in Markdown: dollars, brackets or fences",
        oneOf(...formulaChoices),
        "dollars",
      )
      .option("--layout-picture <kind>", "pages with their regions drawn in: png, pdf or none", oneOf("png", "pdf", "none"), "png")
      .option("--keep-paratext", "headers, footers and page numbers in the Markdown too")
      .option("--keep-lines", "keep the line breaks of the page")
      .option("--mark-below <confidence>", "mark passages the model is less sure of", numberBetween(0, 1))
      .option("--layout-analysis", "ask for the layout in the older wording")
      .option("--tokens", "every token's confidence and step in the JSON")
      .option("--batch-size <n>", "regions decoded side by side", numberBetween(1, 256, { whole: true }))
      .option("--policy <file>", "threshold and block length by region, as bench/policy.ts learns them; off is none", "off")
      .option("--jobs <n>", "files and pages prepared at once, their regions read in one batch", numberBetween(1, 256, { whole: true }), 1)
      .option("--report <file>", "where to write what became of each file (default: DIR/report.json)")
      .option("--force", "parse again what is already in the output folder")
      .option("-q, --quiet", "no progress"),
  ).action(async (files: string[], flags) => {
    exitCode = await parseCommand(files, flags, signal);
  });

  withBoth(
    program
      .command("recognize")
      .description("one crop to text, table, formula or layout")
      .argument("<image>", "PNG, JPEG, WebP, TIFF, GIF or BMP; - is standard input")
      .requiredOption("--task <name>", "what the picture shows", oneOf(...taskNames))
      .option("--prompt <text>", "another wording than the task's")
      .option("--json", "text with every token's confidence and step")
      .option("--trace", "show the text crystallise on standard error"),
  ).action(async (image: string, flags) => {
    exitCode = await recognizeCommand(image, flags, signal);
  });

  withModel(
    program
      .command("serve")
      .description("OpenAI-compatible chat completions and MinerU's HTTP interface")
      .option("--host <address>", "address to listen on", "127.0.0.1")
      .option("--port <n>", "port to listen on; 0 lets the system choose", numberBetween(0, 65535, { whole: true }), 8000)
      .option("--api-key <text>", "key that clients must send (default: $MINERU_DIFFUSION_API_KEY)")
      .option("--max-upload <megabytes>", "largest upload", numberBetween(0.001, 4096), 100)
      .option("--concurrency <n>", "requests worked on at once", numberBetween(1, 1024, { whole: true }), 4)
      .option("--queue <n>", "requests that may wait", numberBetween(0, 100_000, { whole: true }), 128)
      .option("--timeout <seconds>", "longest time for one answer", numberBetween(0.001, 86_400), 600)
      .option("-q, --quiet", "no line per request"),
  ).action(async (flags) => {
    // Only those who serve wait for what serving needs.
    const { serveCommand } = await import("./serve-command.ts");
    exitCode = await serveCommand(flags, signal);
  });

  withModel(
    program
      .command("mcp")
      .description("tools for assistants (Model Context Protocol) on standard input and output")
      .requiredOption("--root <dir>", "folder whose documents may be read; may be given several times", collected),
  ).action(async (flags) => {
    const { mcpCommand } = await import("./mcp-command.ts");
    exitCode = await mcpCommand(flags, signal);
  });

  const done = (code: number): void => {
    exitCode = code;
  };
  addEvalCommand(program, withModel, withBoth, signal, done);
  addQueueCommand(program, { withModel, withDecoding }, signal, done);
  addModelsCommand(program, signal, done);
  addDoctorCommand(program, withModel, done);
  addCompletionCommand(program, done);
  addTrainCommand(program, signal, done);

  return {
    async parseAsync(argv) {
      await program.parseAsync(argv as string[]);
      return { exitCode };
    },
  };
}
