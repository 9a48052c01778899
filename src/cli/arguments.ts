/** Argument values: each parser returns the value or throws what commander prints. */
import { InvalidArgumentError } from "commander";
import { type CommitRuleOptions, type CommitStrategy, commitStrategies, type DecodingOptions, type LoadOptions } from "../index.ts";
import { UsageError } from "./errors.ts";

export function numberBetween(least: number, most: number, { whole = false } = {}): (text: string) => number {
  return (text) => {
    const value = Number(text);
    const fits = text.trim() !== "" && value >= least && value <= most && (!whole || Number.isInteger(value));
    if (!fits) throw new InvalidArgumentError(`expected a ${whole ? "whole " : ""}number from ${least} to ${most}.`);
    return value;
  };
}

/** Pages as a user names them. */
export interface PageRanges {
  /** What was written. */
  readonly text: string;
  /** Those of a document of `pageCount` pages, from 0. RangeError if it has none of them. */
  within(pageCount: number): number[];
}

/** `1-3,7,10-` counted from 1; ranges may reach beyond a document's end. */
export function pageRanges(text: string): PageRanges {
  const ranges = text.split(",").map((part) => {
    const match = /^\s*(\d{1,9})\s*(-\s*(\d{1,9})?\s*)?$/.exec(part);
    const first = Number(match?.[1] ?? 0);
    const last = match?.[2] === undefined ? first : Number(match[3] ?? Number.POSITIVE_INFINITY);
    if (first < 1 || last < first) throw new InvalidArgumentError("expected pages such as 1-3,7,10- (counted from 1).");
    return { first, last };
  });
  const within = (pageCount: number): number[] => {
    const wanted = Array.from({ length: pageCount }, (_, i) => i).filter((i) =>
      ranges.some(({ first, last }) => first <= i + 1 && i < last),
    );
    if (wanted.length === 0) throw new RangeError(`\`--pages\` expected numbers up to ${pageCount}, got ${text}`);
    return wanted;
  };
  return { text, within };
}

const knownChoices = new WeakMap<object, readonly string[]>();

export function oneOf<T extends string>(...choices: readonly T[]): (text: string) => T {
  const parse = (text: string): T => {
    if (!(choices as readonly string[]).includes(text)) throw new InvalidArgumentError(`expected one of ${choices.join(", ")}.`);
    return text as T;
  };
  knownChoices.set(parse, choices);
  return parse;
}

/** What a parser made by `oneOf` takes; undefined for any other. */
export const choicesOf = (parse: unknown): readonly string[] | undefined =>
  typeof parse === "function" ? knownChoices.get(parse) : undefined;

export interface DecodingFlags {
  readonly threshold?: number;
  readonly blockLength?: number | "answer";
  readonly strategy?: CommitStrategy;
  readonly gamma?: number;
  readonly factor?: number;
  readonly steps?: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly maxTokens?: number;
}

export const strategyChoice = oneOf(...commitStrategies);

export function blockLengthChoice(text: string): number | "answer" {
  return text === "answer" ? text : numberBetween(1, 4096, { whole: true })(text);
}

/** Flags → decoding options; only what was given. */
export function decodingOf(flags: DecodingFlags): DecodingOptions {
  const { threshold, strategy, gamma, factor } = flags;
  const rule: CommitRuleOptions = defined({ strategy, threshold, gamma, factor });
  return defined({
    blockLength: flags.blockLength,
    stepsPerBlock: flags.steps,
    temperature: flags.temperature,
    seed: flags.seed,
    maxTokens: flags.maxTokens,
    rule: Object.keys(rule).length > 0 ? rule : undefined,
  });
}

function defined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

export interface ModelFlags extends Pick<LoadOptions, "model" | "device" | "precision" | "threads"> {
  readonly engine?: "local" | "openai";
  readonly serverUrl?: string;
  readonly serverModel?: string;
  readonly serverKey?: string;
  readonly serverConcurrency?: number;
}

/** Flags → the server that computes; undefined where this machine does. A key may stand in the environment, as for MinerU's clients. */
function serverOf(flags: ModelFlags): LoadOptions["server"] {
  const { engine, serverUrl, serverModel, serverKey, serverConcurrency } = flags;
  if ((engine ?? (serverUrl === undefined ? "local" : "openai")) === "local") {
    if (serverUrl !== undefined) throw new UsageError("expected --server-url with --engine openai, got it with --engine local");
    return undefined;
  }
  if (serverUrl === undefined) throw new UsageError("expected --server-url with --engine openai, such as http://127.0.0.1:30000");
  const apiKey = serverKey ?? process.env.MINERU_VL_API_KEY;
  return defined({ serverUrl, model: serverModel, apiKey: apiKey || undefined, concurrency: serverConcurrency });
}

/** Flags → how the model is loaded; what could not be had is told on standard error. */
export function loadOptionsOf(flags: ModelFlags): LoadOptions {
  const { model, device, precision, threads } = flags;
  return defined({
    model,
    device,
    precision,
    threads,
    server: serverOf(flags),
    onWarning: (message: string) => void process.stderr.write(`mineru-diffusion: ${message}\n`),
  });
}
