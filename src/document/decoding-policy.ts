/**
 * How fast each region may be decoded: rules that give threshold and block length by task and by what can be measured on a crop before it
 * is read, learnt from decodes whose truth was known. The first rule that fits holds; where none fits the checkpoint's own settings do.
 * Refuses to decode.
 */
import type { DecodingOptions } from "../engine/types.ts";
import { MineruError } from "../error.ts";
import { inkMask } from "../image/ink-mask.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import { pageMarks } from "../image/white-space/marks.ts";
import type { RecognitionTask } from "./types.ts";

/** What can be measured on a crop. */
export interface Complexity {
  /** Share of its pixels that are ink, 0..1. */
  readonly inkDensity: number;
  /** Marks as large as letters: about as many as its answer has characters. */
  readonly length: number;
}

/** A decoding setting. */
export interface PolicySetting {
  /** 0..1; positions more certain than this are committed. */
  readonly threshold: number;
  readonly blockLength: number;
}

/** A setting for a task, and for crops whose measures lie in these ranges: least inclusive, most exclusive, null for none. */
export interface PolicyRule extends PolicySetting {
  readonly task: RecognitionTask;
  readonly when: Readonly<Partial<Record<keyof Complexity, readonly [least: number | null, most: number | null]>>>;
}

/** Decoding settings by task and by how much stands in a region. */
export interface DecodingPolicy {
  readonly format: typeof POLICY_FORMAT;
  readonly version: 1;
  /** What it was learnt with. */
  readonly checkpoint?: string;
  readonly rules: readonly PolicyRule[];
}

export const POLICY_FORMAT = "mineru-diffusion/policy";
const TASKS = ["text", "table", "formula"];
const MEASURES = ["inkDensity", "length"];

/** Reads what was written as JSON. Throws `MineruError` (`data-invalid`) that names the first thing that does not fit. */
export function parsePolicy(data: unknown): DecodingPolicy {
  const { format, version, rules } = (data ?? {}) as Partial<DecodingPolicy>;
  if (format !== POLICY_FORMAT || version !== 1)
    throw invalid(`\`format\` and \`version\` expected "${POLICY_FORMAT}" and 1, got ${JSON.stringify(format)} and ${version}`);
  if (!Array.isArray(rules)) throw invalid("`rules` expected an array");
  rules.forEach((rule: PolicyRule, i) => {
    const { task, when, threshold, blockLength } = rule ?? {};
    const where = `\`rules[${i}]\``;
    if (!TASKS.includes(task)) throw invalid(`${where} expected a task (${TASKS.join(", ")}), got ${JSON.stringify(task)}`);
    if (!(threshold >= 0 && threshold <= 1)) throw invalid(`${where} expected a threshold in 0..1, got ${threshold}`);
    if (!(Number.isInteger(blockLength) && blockLength >= 1)) throw invalid(`${where} expected a whole blockLength, got ${blockLength}`);
    for (const [measure, range] of Object.entries(when ?? {})) {
      const fits =
        MEASURES.includes(measure) &&
        Array.isArray(range) &&
        range.length === 2 &&
        range.every((edge) => edge === null || typeof edge === "number");
      if (!fits) throw invalid(`${where} expected ranges of ${MEASURES.join(", ")} in \`when\`, got ${measure}: ${JSON.stringify(range)}`);
    }
  });
  return data as DecodingPolicy;
}

function invalid(what: string): MineruError {
  return new MineruError("data-invalid", `not a decoding policy: ${what}. \`npx tsx bench/policy.ts\` writes one.`);
}

/** Measures a crop. */
export function complexityOf(picture: RgbImage): Complexity {
  const mask = inkMask(picture);
  return { inkDensity: mask.ink.reduce((sum, ink) => sum + ink, 0) / mask.ink.length, length: pageMarks(mask).letters.length };
}

const holds = (when: PolicyRule["when"], complexity: Complexity): boolean =>
  Object.entries(when).every(([measure, [least, most]]) => {
    const value = complexity[measure as keyof Complexity];
    return (least === null || value >= least) && (most === null || value < most);
  });

/** The settings for a crop; none where no rule fits. */
export function decodingBy({ rules }: DecodingPolicy, task: RecognitionTask, picture: RgbImage): DecodingOptions {
  const own = rules.filter((rule) => rule.task === task);
  if (own.length === 0) return {};
  const complexity = complexityOf(picture);
  const rule = own.find(({ when }) => holds(when, complexity));
  return rule ? { blockLength: rule.blockLength, rule: { threshold: rule.threshold } } : {};
}

/** One region decoded with one setting, against its truth. */
export interface PolicyTrace extends PolicySetting {
  readonly task: RecognitionTask;
  readonly complexity: Complexity;
  /** Edits between answer and truth. */
  readonly errors: number;
  /** What it took, in any unit. */
  readonly cost: number;
}

const settingOf = ({ threshold, blockLength }: PolicySetting): string => `${threshold}/${blockLength}`;
const total = (traces: readonly PolicyTrace[], of: "errors" | "cost"): number => traces.reduce((sum, trace) => sum + trace[of], 0);

function bySetting(traces: readonly PolicyTrace[]): PolicyTrace[][] {
  const groups = new Map<string, PolicyTrace[]>();
  for (const trace of traces) groups.set(settingOf(trace), [...(groups.get(settingOf(trace)) ?? []), trace]);
  return [...groups.values()];
}

/** Prices of an error, in costs, that are tried: from speed alone to errors alone. */
const PRICES = Array.from({ length: 60 }, (_, i) => 0.001 * 1.35 ** i);
const BINS = 3;

/** For each group of traces the setting that makes costs least while all groups together make at most `mostErrors` errors. */
function cheapest(groups: readonly (readonly PolicyTrace[])[], mostErrors: number): PolicySetting[] {
  const choices = groups.map((group) => bySetting(group));
  let best: { settings: PolicySetting[]; cost: number } | null = null;
  let fewest: { settings: PolicySetting[]; errors: number } | null = null;
  for (const price of PRICES) {
    const chosen = choices.map((settings) => settings.reduce((a, b) => (worth(b, price) < worth(a, price) ? b : a)));
    const [errors, cost] = [total(chosen.flat(), "errors"), total(chosen.flat(), "cost")];
    const settings = chosen.map(([{ threshold, blockLength }]) => ({ threshold, blockLength }));
    if (errors <= mostErrors && (best === null || cost < best.cost)) best = { settings, cost };
    if (fewest === null || errors < fewest.errors) fewest = { settings, errors };
  }
  return (best ?? fewest)!.settings;
}

const worth = (traces: readonly PolicyTrace[], price: number): number => total(traces, "cost") + price * total(traces, "errors");

/** One setting for all regions: the cheapest that makes at most `mostErrors` errors, or the one that makes fewest. */
export function bestSetting(traces: readonly PolicyTrace[], mostErrors: number): PolicySetting {
  return cheapest([traces], mostErrors)[0];
}

/**
 * Learns the rules of one task: regions are parted into thirds by the measure that pays most, each third gets its setting, and together
 * they make at most `mostErrors` errors. Every region must have been decoded with the same settings. Throws `RangeError` for no traces.
 */
export function learnRules(task: RecognitionTask, all: readonly PolicyTrace[], mostErrors: number): PolicyRule[] {
  const traces = all.filter((trace) => trace.task === task);
  if (traces.length === 0) throw new RangeError(`\`traces\` expected some of the task ${task}, got none`);
  let best: { rules: PolicyRule[]; cost: number } | null = null;
  for (const measure of MEASURES as (keyof Complexity)[]) {
    const values = traces.map(({ complexity }) => complexity[measure]).sort((a, b) => a - b);
    const inner = Array.from({ length: BINS - 1 }, (_, i) => values[Math.floor((values.length * (i + 1)) / BINS)]);
    const edges = [null, ...new Set(inner), null];
    const whens = edges.slice(1).map((most, i): PolicyRule["when"] => ({ [measure]: [edges[i], most] }));
    const parts = whens
      .map((when) => ({ when, traces: traces.filter(({ complexity }) => holds(when, complexity)) }))
      .filter((part) => part.traces.length > 0);
    const settings = cheapest(
      parts.map((part) => part.traces),
      mostErrors,
    );
    const cost = parts.reduce(
      (sum, part, i) =>
        sum +
        total(
          part.traces.filter((trace) => settingOf(trace) === settingOf(settings[i])),
          "cost",
        ),
      0,
    );
    if (best === null || cost < best.cost) best = { rules: parts.map(({ when }, i) => ({ task, when, ...settings[i] })), cost };
  }
  return best!.rules;
}
