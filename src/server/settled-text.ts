/**
 * A stream of text from a decoder that fixes tokens out of order: what is said is what can no longer change, so it is said block by block.
 * A block is settled for good when the next one has begun, since an answer that ends, ends within its last block.
 */
import type { RecognitionEvent } from "../index.ts";

type StepRecord = Extract<RecognitionEvent, { kind: "step" }>["record"];

/** Where `text` is to end: at the first of the stop strings. */
export function cutAt(text: string, stop: readonly string[]): { readonly text: string; readonly cut: boolean } {
  const places = stop.map((entry) => text.indexOf(entry)).filter((place) => place >= 0);
  return places.length === 0 ? { text, cut: false } : { text: text.slice(0, Math.min(...places)), cut: true };
}

/** Length of the end of `text` that may turn out to be the start of a stop string. */
function doubtful(text: string, stop: readonly string[]): number {
  const longest = Math.max(0, ...stop.map((entry) => entry.length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length--)
    if (stop.some((entry) => entry.startsWith(text.slice(text.length - length)))) return length;
  return 0;
}

export class SettledText {
  readonly #textOf: (tokens: ArrayLike<number>) => string;
  readonly #stop: readonly string[];
  readonly #tokens: number[] = [];
  readonly #lines = new Map<number, string>();
  #block = 0;
  #said = "";

  constructor(textOf: (tokens: ArrayLike<number>) => string, stop: readonly string[] = []) {
    this.#textOf = textOf;
    this.#stop = stop;
  }

  /** Takes in a step and returns what it settles; mostly nothing. */
  step({ block, positions, tokens }: StepRecord): string {
    let news = "";
    if (block > this.#block) {
      this.#block = block;
      news = this.#sayUpTo(this.#textOf(this.#tokens), false);
    }
    positions.forEach((position, i) => {
      this.#tokens[position] = tokens[i];
    });
    return news;
  }

  /** Takes in a printed line that is read to its end, in any order, and returns what can be said. */
  line(index: number, text: string): string {
    this.#lines.set(index, text);
    let settled = "";
    for (let line = 0; this.#lines.has(line); line++) settled += this.#lines.get(line);
    return this.#sayUpTo(settled, false);
  }

  /** What is left to say of the whole answer. */
  end(text: string): string {
    return this.#sayUpTo(text, true);
  }

  #sayUpTo(text: string, whole: boolean): string {
    const { text: kept, cut } = cutAt(text, this.#stop);
    // A character may be cut in two at the end of a block.
    const firm = whole || cut ? kept : kept.replace(/\ufffd+$/, "");
    const sure = whole || cut ? firm : firm.slice(0, firm.length - doubtful(firm, this.#stop));
    // An answer cut for repetition may end before what was said.
    if (!sure.startsWith(this.#said)) return "";
    const news = sure.slice(this.#said.length);
    this.#said = sure;
    return news;
  }
}
