/**
 * What a parser in another thread and its caller say to each other, in Node and in browsers. A parse is a conversation: it is opened once and
 * asked for one page at a time, so that no page is begun before the one before it is taken. How the thread is started is told by who starts it.
 */
import type { RecognizerIdentity } from "../engine/recognizer.ts";
import type { RecognitionEvent, RecognitionRequest, RecognitionResult } from "../engine/types.ts";
import type { SentError } from "../engine/worker-messages.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import type { PageEvent } from "./parse.ts";
import type { DocumentInput, DocumentPage, ParseOptions, ParseProgress } from "./parser.ts";

/** Options of a parse that can be sent. */
export type SentParseOptions = Omit<ParseOptions, "signal" | "choosePages" | "onProgress" | "onEvent">;

export type Question =
  | { readonly kind: "recognize"; readonly requests: readonly RecognitionRequest[]; readonly batchSize?: number; readonly heard: boolean }
  | { readonly kind: "decode"; readonly bytes: Uint8Array }
  | { readonly kind: "encode"; readonly image: RgbImage }
  | {
      readonly kind: "parse";
      readonly input: DocumentInput;
      readonly options: SentParseOptions;
      /** What anyone listens to. */
      readonly heard: { readonly progress: boolean; readonly events: boolean };
    }
  | { readonly kind: "count" }
  | { readonly kind: "next"; readonly pages?: readonly number[] };

/** `count` and `next` are asked of the parse that the same call has opened. A call is over once; then nobody waits for it any more. */
export type ToParser =
  | { readonly call: number; readonly question: Question }
  | { readonly call: number; readonly over: true }
  | { readonly close: true };

/** What each question is answered with. */
export interface Answers {
  readonly recognize: RecognitionResult[];
  readonly decode: RgbImage;
  readonly encode: Uint8Array;
  readonly parse: null;
  /** Pages of the document. */
  readonly count: number;
  /** Null after the last page. */
  readonly next: DocumentPage | null;
}

/** `Notice` is what is told while the parser is loaded. */
export type FromParser<Notice = unknown> =
  | { readonly ready: RecognizerIdentity }
  | { readonly refused: SentError }
  | { readonly notice: Notice }
  | { readonly call: number; readonly answer: Answers[keyof Answers] }
  | { readonly call: number; readonly failed: SentError }
  | { readonly call: number; readonly progress: ParseProgress }
  | { readonly call: number; readonly event: PageEvent | RecognitionEvent }
  | { readonly closed: true };
