/**
 * A recorded decode as something to look at: for every step and position, whether it was masked, what the model saw there, and what became
 * of it. Made from recordings alone (`replaySteps`), so what is shown is what was decoded. Knows no page and no picture.
 */
import { type RecognitionResult, replaySteps } from "../browser.ts";

/** What the model saw at a masked position in one step. */
export interface Sight {
  readonly text: string;
  readonly confidence: number;
  /** Likeliest first; as many as were recorded. */
  readonly candidates: readonly { readonly text: string; readonly probability: number }[];
}

/** One sequence of positions: a region, or a printed line of it. */
export interface Trace {
  /** Denoising steps. */
  readonly steps: number;
  readonly forwards: number;
  /** Answer tokens; positions behind them were decoded but do not count. */
  readonly answerLength: number;
  /** What each position became, to the end of the last block begun; null where decoding ended before. */
  readonly settled: readonly (Settled | null)[];
  /** By step, from 1: the positions known of by then. */
  readonly begun: readonly number[];
  /** By step, from 1: what was seen at each position that was masked before it. */
  readonly seen: readonly ReadonlyMap<number, Sight>[];
}

export interface Settled {
  readonly text: string;
  readonly confidence: number;
  /** The step that committed it, from 1. */
  readonly step: number;
}

export type CellState = "mask" | "candidate" | "new" | "settled";

/** A position at a moment. */
export interface Cell {
  readonly position: number;
  readonly state: CellState;
  /** What is to be read there; null for a mask. */
  readonly text: string | null;
  readonly confidence: number | null;
  readonly candidates: Sight["candidates"];
  /** Decoded, but behind the end of the answer. */
  readonly beyond: boolean;
  /** The step that committed it, by the moment shown; else null. */
  readonly step: number | null;
}

/** The sequences of a result that has recordings: one of each printed line, or one of all. Empty without recordings. */
export function tracesOf(result: RecognitionResult): Trace[] {
  return (result.lines ?? [result]).flatMap((line) => (line.recording ? [traceOf(line)] : []));
}

function traceOf({ recording, tokenTexts = {}, tokens, forwards }: RecognitionResult): Trace {
  const textOf = (token: number): string => tokenTexts[token] ?? "";
  const begun: number[] = [];
  const seen: Map<number, Sight>[] = [];
  const steps = replaySteps(recording!);
  let turn = steps.next();
  while (!turn.done) {
    const { position, canvas, masked } = turn.value;
    const answer = recording!.answers[begun.length];
    begun.push(position + canvas.length);
    const sights = new Map<number, Sight>();
    if (!("stop" in answer))
      masked.forEach((place, i) => {
        const candidates = (answer.candidates?.[i] ?? []).map(({ token, probability }) => ({ text: textOf(token), probability }));
        sights.set(position + place, { text: textOf(answer.tokens[i]), confidence: answer.confidences[i], candidates });
      });
    seen.push(sights);
    turn = steps.next();
  }
  const decode = turn.value;
  const settled = Array.from(decode.canvas, (token, i): Settled | null =>
    decode.stepMap[i] === 0 ? null : { text: textOf(token), confidence: decode.confidences[i], step: decode.stepMap[i] },
  );
  return { steps: seen.length, forwards, answerLength: tokens.length, settled, begun, seen };
}

/** The positions known of after `step` steps; before the first, the first block in masks. */
export function cellsAt({ settled, begun, seen, answerLength, steps }: Trace, step: number): Cell[] {
  const now = Math.min(step, steps);
  const length = now === 0 ? (begun[0] ?? 0) : begun[now - 1];
  return Array.from({ length }, (_, position): Cell => {
    const end = settled[position] ?? null;
    const sight = now === 0 ? undefined : seen[now - 1].get(position);
    const beyond = position >= answerLength;
    const candidates = sight?.candidates ?? candidatesOf(seen, position, end?.step);
    if (end && end.step <= now)
      return {
        position,
        state: end.step === now ? "new" : "settled",
        text: end.text,
        confidence: end.confidence,
        candidates,
        beyond,
        step: end.step,
      };
    if (!sight) return { position, state: "mask", text: null, confidence: null, candidates: [], beyond, step: null };
    return { position, state: "candidate", text: sight.text, confidence: sight.confidence, candidates, beyond, step: null };
  });
}

/** What competed in the step that settled a position. */
function candidatesOf(seen: Trace["seen"], position: number, step: number | undefined): Sight["candidates"] {
  return step === undefined ? [] : (seen[step - 1]?.get(position)?.candidates ?? []);
}

/** Widths of all positions in characters, the same at every step, so that nothing moves while the text appears. */
export function widthsOf({ settled }: Trace): number[] {
  return settled.map((end) => Math.max(1, end ? [...shownText(end.text)].length : 1));
}

/** Special tokens are shown by a sign, white space by its shape. */
export function shownText(text: string): string {
  if (/^<\|.*\|>$/.test(text)) return "◼";
  return text.replace(/\n/g, "↵").replace(/\t/g, "→").replace(/ /g, "\u00a0");
}

/** Five grades, for colours; the threshold that commits stands between the third and the fourth by default. */
export function grade(confidence: number): 0 | 1 | 2 | 3 | 4 {
  if (confidence < 0.5) return 0;
  if (confidence < 0.8) return 1;
  if (confidence < 0.95) return 2;
  return confidence < 0.99 ? 3 : 4;
}

export interface TraceFigures {
  /** Steps of the longest sequence: how long it takes where all are decoded side by side. */
  readonly steps: number;
  readonly forwards: number;
  readonly tokens: number;
  readonly tokensPerForward: number;
}

/** Figures of sequences together. */
export function figuresOf(traces: readonly Trace[]): TraceFigures {
  const forwards = traces.reduce((sum, trace) => sum + trace.forwards, 0);
  const tokens = traces.reduce((sum, { answerLength }) => sum + answerLength, 0);
  return {
    steps: Math.max(0, ...traces.map(({ steps }) => steps)),
    forwards,
    tokens,
    tokensPerForward: forwards === 0 ? 0 : tokens / forwards,
  };
}
