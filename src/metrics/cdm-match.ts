/**
 * The matching half of CDM (character detection matching): tokens of two rendered formulas, each with its box, are assigned at least
 * cost of token, place and order, then pairs that do not move with the others are rejected by RANSAC over translation and scale. Both
 * published variants, named: `odb15` (OmniDocBench v1.5) and `unimer2509` (UniMERNet, September 2025); their scores are not
 * interchangeable. Strict keeps their table of equal tokens; sound does not take opposite arrows, or `\bigcup` and p, for equal, and
 * checks places however few pairs there are. It refuses to know how boxes were made.
 */
import { assignMinimum } from "./assignment.ts";
import type { MetricMode } from "./mode.ts";
import { NumpyRandom } from "./numpy-random.ts";

export type CdmVariant = "odb15" | "unimer2509";

/** A token and the box of its ink, `[x0, y0, x1, y1]` in pixels. */
export interface TokenBox {
  readonly token: string;
  readonly bbox: readonly [number, number, number, number];
}

/** A rendered formula: size in pixels and boxes in order of the tokens. */
export interface FormulaImage {
  readonly size: readonly [number, number];
  readonly boxes: readonly TokenBox[];
}

export interface CdmScore {
  /** Assigned boxes, index in the truth and in the prediction. */
  readonly pairs: readonly (readonly [number, number])[];
  /** For each pair whether it counts. */
  readonly inliers: readonly boolean[];
  /** Counted pairs / boxes of the truth, to three digits. */
  readonly recall: number;
  readonly precision: number;
  readonly f1: number;
}

interface Settings {
  readonly equivalentCost: number;
  readonly minSamples: number;
  /** Pixels at 200 dpi. */
  readonly threshold: number;
  readonly rounds: number;
}

const SETTINGS: Readonly<Record<CdmVariant, Settings>> = {
  odb15: { equivalentCost: 0.05, minSamples: 3, threshold: 25, rounds: 3 },
  unimer2509: { equivalentCost: 0.005, minSamples: 2, threshold: 20, rounds: 5 },
};
const POSITION_WEIGHT = 0.05;
const ORDER_WEIGHT = 0.15;
const TRIALS = 50;
const SEED = 42;

/** CDM of two rendered formulas. A side without boxes gives 0; both without give 1 in sound mode. */
export function matchFormulas(pred: FormulaImage, truth: FormulaImage, variant: CdmVariant, mode: MetricMode = "sound"): CdmScore {
  if (pred.boxes.length === 0 || truth.boxes.length === 0) {
    const score = mode === "sound" && pred.boxes.length === truth.boxes.length ? 1 : 0;
    return { pairs: [], inliers: [], recall: score, precision: score, f1: score };
  }
  const settings = SETTINGS[variant];
  const tokenCost = truth.boxes.map((t) => pred.boxes.map((p) => costOfTokens(t.token, p.token, variant, mode)));
  const longer = Math.max(truth.boxes.length, pred.boxes.length);
  const [truthLength, predLength] = variant === "odb15" ? [truth.boxes.length, pred.boxes.length] : [longer, longer];
  const cost = truth.boxes.map((t, i) =>
    pred.boxes.map(
      (p, j) =>
        tokenCost[i][j] +
        POSITION_WEIGHT * boxDistance(t, truth.size, p, pred.size) +
        ORDER_WEIGHT * Math.abs(i / truthLength - j / predLength),
    ),
  );
  const { rows, columns } = assignMinimum(cost);
  const pairs = rows.map((row, k) => [row, columns[k]] as const);
  const source = pairs.map(([i]) => centre(truth.boxes[i]));
  const target = pairs.map(([, j]) => centre(pred.boxes[j]));
  const inliers = consistentPairs(source, target, settings, mode).map((isIn, k) => isIn && tokenCost[pairs[k][0]][pairs[k][1]] !== 1);
  const matched = inliers.filter(Boolean).length;
  return {
    pairs,
    inliers,
    recall: threeDigits(matched / truth.boxes.length),
    precision: threeDigits(matched / pred.boxes.length),
    f1: threeDigits((2 * matched) / (truth.boxes.length + pred.boxes.length)),
  };
}

/** Rounded as Python does: to the nearest, of two equally near ones (odd sixteenths) to the even. */
function threeDigits(value: number): number {
  if ((value * 16) % 2 !== 1) return Number(value.toFixed(3));
  const below = Math.floor(value * 1000);
  return (below % 2 === 0 ? below : below + 1) / 1000;
}

function costOfTokens(a: string, b: string, variant: CdmVariant, mode: MetricMode): number {
  if (a === b) return 0;
  return canonicalToken(a, variant, mode) === canonicalToken(b, variant, mode) ? SETTINGS[variant].equivalentCost : 1;
}

/** Mean difference of the coordinates, each side relative to its image. */
function boxDistance(a: TokenBox, aSize: readonly [number, number], b: TokenBox, bSize: readonly [number, number]): number {
  let sum = 0;
  for (let k = 0; k < 4; k++) sum += Math.abs(a.bbox[k] / aSize[k % 2] - b.bbox[k] / bSize[k % 2]);
  return sum / 4;
}

type Point = readonly [number, number];

function centre({ bbox: [x0, y0, x1, y1] }: TokenBox): Point {
  return [(y0 + y1) / 2, (x0 + x1) / 2];
}

/** Rounds of RANSAC, each over the pairs no round before has accepted. */
function consistentPairs(source: readonly Point[], target: readonly Point[], settings: Settings, mode: MetricMode): boolean[] {
  const { minSamples, rounds, threshold } = settings;
  const accepted = source.map(() => false);
  if (source.length <= minSamples) {
    if (mode === "strict" || source.length < 2) return source.map(() => true);
    const model = estimate(source, target);
    return residuals(model, source, target).map((residual) => residual < threshold);
  }
  for (let round = 0; round < rounds; round++) {
    const open = accepted.flatMap((isAccepted, index) => (isAccepted ? [] : [index]));
    if (open.length <= minSamples) break;
    const best = ransac(
      open.map((index) => source[index]),
      open.map((index) => target[index]),
      settings,
    );
    if (!best.some(Boolean)) break;
    best.forEach((isIn, k) => {
      if (isIn) accepted[open[k]] = true;
    });
  }
  return accepted;
}

/** Translation, and a scale that is applied around the mean of whatever points it is asked about. */
interface Motion {
  readonly shift: Point;
  readonly scale: number;
}

function mean(points: readonly Point[]): Point {
  const sum = points.reduce<Point>(([y, x], [py, px]) => [y + py, x + px], [0, 0]);
  return [sum[0] / points.length, sum[1] / points.length];
}

function estimate(source: readonly Point[], target: readonly Point[]): Motion {
  const from = mean(source);
  const to = mean(target);
  const spread = (points: readonly Point[], middle: Point) =>
    points.reduce((sum, [y, x]) => sum + Math.sqrt((y - middle[0]) ** 2 + (x - middle[1]) ** 2), 0) / points.length;
  return { shift: [to[0] - from[0], to[1] - from[1]], scale: spread(target, to) / (spread(source, from) + 1e-10) };
}

function residuals({ shift, scale }: Motion, source: readonly Point[], target: readonly Point[]): number[] {
  const middle = mean(source);
  return source.map(([y, x], k) => {
    const dy = scale * (y - middle[0]) + middle[0] + shift[0] - target[k][0];
    const dx = scale * (x - middle[1]) + middle[1] + shift[1] - target[k][1];
    return Math.sqrt(dy ** 2 + dx ** 2);
  });
}

/** Pairs within the threshold of the best of up to 50 motions, as scikit-image's `ransac` finds it. */
function ransac(source: readonly Point[], target: readonly Point[], { minSamples, threshold }: Settings): boolean[] {
  const random = new NumpyRandom(SEED);
  let best = source.map(() => false);
  let bestCount = 0;
  let bestSum = Number.POSITIVE_INFINITY;
  let trials = TRIALS;
  let sample = random.choose(source.length, minSamples);
  for (let trial = 1; trial <= trials; trial++) {
    const motion = estimate(
      sample.map((index) => source[index]),
      sample.map((index) => target[index]),
    );
    sample = random.choose(source.length, minSamples);
    const distances = residuals(motion, source, target);
    const within = distances.map((distance) => distance < threshold);
    const count = within.filter(Boolean).length;
    const sum = distances.reduce((total, distance) => total + distance * distance, 0);
    if (count > bestCount || (count === bestCount && sum < bestSum)) {
      best = within;
      bestCount = count;
      bestSum = sum;
      trials = Math.min(trials, trialsNeeded(count / source.length, minSamples));
      if (sum <= 0) break;
    }
  }
  return best;
}

/** Trials after which a sample of inliers only has been drawn with certainty, by machine precision. */
function trialsNeeded(inlierRatio: number, minSamples: number): number {
  if (inlierRatio === 0) return Number.POSITIVE_INFINITY;
  return Math.ceil(Math.log(Number.EPSILON) / Math.log(Math.max(Number.EPSILON, 1 - inlierRatio ** minSamples)));
}

const ODB15_TOKENS = new Map([
  ["\\cdot", "."],
  ["\\mid", "|"],
  ["\\to", "\\rightarrow"],
  ["\\top", "T"],
  ["\\Tilde", "\\tilde"],
  ["\\cdots", "\\dots"],
  ["\\prime", "'"],
  ["\\ast", "*"],
  ["\\left<", "\\langle"],
  ["\\right>", "\\rangle"],
]);

const UNIMER_TOKENS = new Map([
  ...["\\dot", "\\Dot", "\\cdot", "\\cdotp", "\\ldotp"].map((token) => [token, "."] as const),
  ...["\\mid", "\\vert", "\\lvert", "\\rvert"].map((token) => [token, "|"] as const),
  ...["\\Vert", "\\lVert", "\\rVert", "\\parallel"].map((token) => [token, "\\|"] as const),
  ["\\rightarrow", "\\to"],
  ["\\top", "T"],
  ["\\Tilde", "\\tilde"],
  ["\\prime", "'"],
  ["\\ast", "*"],
  ["\\left<", "\\langle"],
  ["\\right>", "\\rangle"],
  ["\\lbrace", "\\{"],
  ["\\rbrace", "\\}"],
  ["\\lbrack", "["],
  ["\\rbrack", "]"],
  ["\\slash", "/"],
  ["\\leq", "\\le"],
  ["\\geq", "\\ge"],
  ["\\neq", "\\not="],
  ["\\colon", ":"],
  ["\\Ddot", "\\ddot"],
  ["\\Bar", "\\bar"],
  ["\\Vec", "\\vec"],
  ["\\dag", "\\dagger"],
  ["\\ddag", "\\ddagger"],
  ["\\textlangle", "<"],
  ["\\textrangle", ">"],
  ["\\textgreater", ">"],
  ["\\textless", "<"],
  ["\\textunderscore", "_"],
  ["\\=", "_"],
  ["\\neg", "\\lnot"],
]);

/** The token that stands for all that count as equal to it. */
export function canonicalToken(token: string, variant: CdmVariant, mode: MetricMode = "sound"): string {
  if (mode === "sound") return soundToken(token);
  return variant === "odb15" ? odb15Token(token) : unimerToken(token);
}

function withoutSize(token: string): string {
  if (!/^\\[bB]ig/.test(token)) return token;
  const rest = token.slice(4);
  return rest.includes("\\") ? `\\${rest.split("\\").at(-1)}` : token.slice(-1);
}

function odb15Token(original: string): string {
  let token = ODB15_TOKENS.get(original) ?? original;
  if (/^\\(?:left|right)/.test(token)) token = token.replaceAll("\\left", "").replaceAll("\\right", "");
  token = withoutSize(token);
  if (token === "\\leq" || token === "\\geq") return token.slice(0, -1);
  if (["\\lVert", "\\rVert", "\\Vert"].includes(token)) return "\\|";
  if (["\\lvert", "\\rvert", "\\vert"].includes(token)) return "|";
  if (token.endsWith("rightarrow")) return "\\rightarrow";
  if (token.endsWith("leftarrow")) return "\\leftarrow";
  if (token.startsWith("\\wide")) return token.replaceAll("wide", "");
  return token.startsWith("\\var") ? token.replaceAll("\\var", "") : token;
}

function unimerToken(original: string): string {
  let token = original;
  if (/^\\(?:left|right)/.test(token) && !/arrow|harpoon|[<>]/.test(token))
    token = token.replaceAll("\\left", "").replaceAll("\\right", "");
  token = withoutSize(token);
  token = UNIMER_TOKENS.get(token) ?? token;
  if (token.startsWith("\\wide")) return token.replaceAll("wide", "");
  if (token.startsWith("\\var")) return token.replaceAll("var", "");
  return token.startsWith("\\string") ? token.replaceAll("\\string", "") : token;
}

/** Sizes go only where a delimiter follows them; arrows keep their direction. */
function soundToken(original: string): string {
  const token = original.replace(/^\\(?:left|right|[bB]igg?[lrm]?)(?=[^a-zA-Z]|\\)/, "");
  const same = UNIMER_TOKENS.get(token) ?? token;
  return same.replace(/^\\wide(?=hat|tilde)/, "\\").replace(/^\\var(?=[a-z])/, "\\");
}
