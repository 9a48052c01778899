/**
 * What a parser's thread and its caller say to each other. A parse is a conversation of its own: opened once, asked for one page at a time, so
 * that no page is begun before the one before it is taken.
 */
import type { OpenaiRecognizerOptions } from "../engine/openai-recognizer.ts";
import type { RecognizerIdentity } from "../engine/recognizer.ts";
import type { SessionsOptions } from "../engine/sessions.ts";
import type { RecognitionEvent, RecognitionRequest, RecognitionResult } from "../engine/types.ts";
import type { SentError } from "../engine/worker-messages.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import type { PageEvent } from "./parse.ts";
import type { DocumentInput, DocumentPage, ParseOptions, ParseProgress } from "./parser.ts";

/** What the thread is started with: a checkpoint folder, or the server that computes. */
export type ParserStart =
  | { readonly dir: string; readonly sessions: Omit<SessionsOptions, "onWarning"> }
  | { readonly server: OpenaiRecognizerOptions };

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
      readonly heard: { readonly progress: boolean; readonly events: boolean };
    }
  | { readonly kind: "count" }
  | { readonly kind: "next"; readonly pages?: readonly number[] };

/** `count` and `next` are asked of the parse that the same call has opened. */
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
  readonly count: number;
  /** Null after the last page. */
  readonly next: DocumentPage | null;
}

export type FromParser =
  | { readonly ready: RecognizerIdentity }
  | { readonly refused: SentError }
  | { readonly warning: string }
  | { readonly call: number; readonly answer: Answers[keyof Answers] }
  | { readonly call: number; readonly failed: SentError }
  | { readonly call: number; readonly progress: ParseProgress }
  | { readonly call: number; readonly event: PageEvent | RecognitionEvent };
