/**
 * A recogniser that knows its answers beforehand: tests of what stands around a model need no model. Answers can be held back, and what
 * was asked, and what was aborted, is remembered.
 */
import type { RecognitionRequest, RecognitionResult, RecognizeOptions, Recognizer, RecognizerIdentity, TaskName } from "../src/index.ts";

const region = (box: string, name: string): string => `<|box_start|>${box}<|box_end|><|ref_start|>${name}<|ref_end|><|rotate_up|>`;

export const fakeAnswers: Readonly<Record<TaskName, string>> = {
  layout: [
    region("050 050 950 200", "title"),
    region("050 200 950 600", "text"),
    region("050 600 500 950", "table"),
    region("500 600 950 950", "image"),
  ].join("\n"),
  text: "Hällo wörld, read by blocks",
  table: "<fcel>a<fcel>b<nl><fcel>1<fcel>2<nl>",
  formula: "\\[ x^2 \\]",
};

const BLOCK = 8;

/** One token is one byte. */
export const fakeTextOfTokens = (tokens: ArrayLike<number>): string => new TextDecoder().decode(Uint8Array.from(Array.from(tokens)));

export class FakeRecognizer implements Recognizer<RecognizerIdentity> {
  readonly info: RecognizerIdentity = {
    name: "fake",
    profile: { layoutSize: 56, regionTokens: 2048, linePixels: null, detectsLayout: true, readsTables: true, printedLineBreaks: false },
  };
  readonly asked: RecognitionRequest[] = [];
  readonly aborted: unknown[] = [];
  /** What is answered; throws what it may throw. */
  answer: (request: RecognitionRequest) => Partial<RecognitionResult> = ({ task }) => ({ text: fakeAnswers[task] });
  closed = false;
  #gate: Promise<void> = Promise.resolve();
  #open: () => void = () => {};

  /** Holds answers back until `release`. */
  hold(): void {
    this.#gate = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  release(): void {
    this.#open();
  }

  async recognize(requests: readonly RecognitionRequest[], { signal, onEvent }: RecognizeOptions = {}): Promise<RecognitionResult[]> {
    this.asked.push(...requests);
    const results: RecognitionResult[] = [];
    for (const [index, request] of requests.entries()) {
      await new Promise<void>((resolve, reject) => {
        const abort = (): void => {
          this.aborted.push(signal!.reason);
          reject(signal!.reason);
        };
        if (signal?.aborted) return abort();
        signal?.addEventListener("abort", abort, { once: true });
        void this.#gate.then(() => {
          signal?.removeEventListener("abort", abort);
          resolve();
        });
      });
      const given = this.answer(request);
      const bytes = [...new TextEncoder().encode(given.text ?? "")];
      // Each block settles in two steps, its odd positions first.
      let step = 0;
      for (let start = 0; start < bytes.length; start += BLOCK)
        for (const parity of [1, 0]) {
          const positions = Int32Array.from({ length: Math.min(BLOCK, bytes.length - start) }, (_, i) => start + i).filter(
            (p) => p % 2 === parity,
          );
          const tokens = positions.map((position) => bytes[position]);
          const record = {
            step: ++step,
            block: start / BLOCK,
            masked: BLOCK,
            positions,
            tokens,
            confidences: new Float32Array(positions.length).fill(0.9),
          };
          onEvent?.({ kind: "step", request: index, record, texts: Array.from(tokens, (token) => fakeTextOfTokens([token])) });
        }
      const result: RecognitionResult = {
        text: "",
        tokens: bytes.map((token, i) => ({ token, text: String.fromCharCode(token), confidence: 0.9, step: i + 1 })),
        ended: "stop",
        promptTokens: 20,
        imageTokens: 4,
        steps: step,
        forwards: step + 1,
        tokensPerForward: 4,
        stepsOfBlock: Array(step / 2).fill(2),
        milliseconds: 1,
        ...given,
      };
      onEvent?.({ kind: "result", request: index, result });
      results.push(result);
    }
    return results;
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
