/**
 * What the engine is asked and what it answers: one request per region, one result each, and events while it works.
 */
import type { CommitRuleOptions } from "../diffusion/commit-rules.ts";
import type { EndReason, StepRecord } from "../diffusion/conversation.ts";
import type { Recording } from "../diffusion/replay.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import type { TaskName } from "../text/prompts.ts";

/** How an answer is decoded; the defaults are the checkpoint's, then the paper's. */
export interface DecodingOptions {
  /** Positions per block; 1 is autoregression, "answer" is full-sequence diffusion. Default: the checkpoint's, else 32. */
  readonly blockLength?: number | "answer";
  /** Commit rule; default `low_confidence_dynamic` at the checkpoint's threshold, else 0.95. */
  readonly rule?: CommitRuleOptions;
  readonly stepsPerBlock?: number;
  readonly maxTokens?: number;
  /** Token ids that end the answer; the checkpoint's if absent. */
  readonly stopTokens?: readonly number[];
  /** 0 (default) is greedy. */
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  /** Of sampling; default 0. */
  readonly seed?: number;
  /** Fill the last block before looking for its end, as the official code does. Default false. */
  readonly fillLastBlock?: boolean;
  /** Keep the answers of the model, so that the decode can be replayed; with this many candidates per position. */
  readonly record?: { readonly candidates: number };
}

/** One question: a picture, or none, and what it is to be read for. */
export interface RecognitionRequest {
  readonly task: TaskName;
  /** Absent for a prompt without image. */
  readonly image?: RgbImage;
  /** Another wording than the task's. */
  readonly prompt?: string;
  /** Prompt tokens instead of task and image: what tests and researchers use. */
  readonly promptIds?: Int32Array;
  readonly decoding?: DecodingOptions;
}

/** A token of an answer: with what probability it was committed, and when. */
export interface TokenRecord {
  readonly token: number;
  readonly text: string;
  readonly confidence: number;
  /** The step that settled it, from 1. */
  readonly step: number;
}

/** An answer and what it cost. */
export interface RecognitionResult {
  readonly text: string;
  readonly tokens: readonly TokenRecord[];
  readonly ended: EndReason;
  readonly promptTokens: number;
  readonly imageTokens: number;
  readonly steps: number;
  /** Forward passes this sequence took part in. */
  readonly forwards: number;
  /** Settled positions of the canvas (those behind the end included) per forward pass. */
  readonly tokensPerForward: number;
  readonly stepsOfBlock: readonly number[];
  /** Time this sequence was active, waiting for others in its batch included. */
  readonly milliseconds: number;
  /** Absent where `lines` is there: each line has its own. */
  readonly recording?: Recording;
  /** Texts of the tokens that `recording` mentions, by token. */
  readonly tokenTexts?: Readonly<Record<number, string>>;
  /** The answers of the printed lines, in order, where weights read a line at a time and the picture had several. */
  readonly lines?: readonly RecognitionResult[];
}

/** A denoising step of one answer, or of one of its lines. */
export interface StepEvent {
  readonly kind: "step";
  /** Index of the request. */
  readonly request: number;
  /** Which printed line of the request, from 0, where it is read line by line. */
  readonly line?: number;
  readonly record: StepRecord;
  /** Texts of the tokens it committed. */
  readonly texts: readonly string[];
}

/** One of several printed lines of a request is read; lines may end in any order. */
export interface LineEvent {
  readonly kind: "line";
  readonly request: number;
  readonly line: number;
  /** With what stands between this line and the next. */
  readonly text: string;
}

/** An answer is whole. */
export interface ResultEvent {
  readonly kind: "result";
  readonly request: number;
  readonly result: RecognitionResult;
}

/** What happens while questions are answered. */
export type RecognitionEvent = StepEvent | LineEvent | ResultEvent;

/** How questions are answered together. */
export interface RecognizeOptions {
  readonly signal?: AbortSignal;
  /** Regions decoded side by side, each at its own step. Default 8. */
  readonly batchSize?: number;
  readonly onEvent?: (event: RecognitionEvent) => void;
}
