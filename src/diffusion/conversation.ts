/**
 * The words of the decoder's conversation. A decoder is a generator: it yields *questions* ("what do you see at the masked positions of
 * this canvas?"), is resumed with *answers* (a token and a confidence for each) and returns a *decode*. Whoever answers owns the prompt,
 * the model and its cache; positions here count from the prompt's end. Nothing here holds a tensor, a session or text.
 */

/** A token a masked position might become, with its probability under the unfiltered softmax. */
export interface Candidate {
  readonly token: number;
  readonly probability: number;
}

/** What the model sees: entry i belongs to the i-th masked position asked about. */
export interface Reading {
  /** Never the mask token. */
  readonly tokens: Int32Array;
  /** From 0 to 1. */
  readonly confidences: Float32Array;
  /** Entropies of the distributions in nats; `entropy_bounded` needs them. */
  readonly entropies?: Float32Array;
  /** Likeliest tokens first; kept for whoever looks at a recording, the decoder ignores them. */
  readonly candidates?: readonly (readonly Candidate[])[];
}

/** Why a decode ended: a stop token, the token limit, or an interruption. */
export type EndReason = "stop" | "length" | Interruption["stop"];

/** An answer that ends the decode. What is settled without a gap is kept, `keep` tokens of it at most. */
export interface Interruption {
  readonly stop: "cancelled" | "repetition";
  readonly keep?: number;
}

export type Answer = Reading | Interruption;

/** What one denoising step committed. */
export interface StepRecord {
  /** From 1, counted through all blocks. */
  readonly step: number;
  /** From 0. */
  readonly block: number;
  /** How many positions were masked before the step. */
  readonly masked: number;
  /** Committed positions of the answer, ascending, with what they became and how sure the model was. */
  readonly positions: Int32Array;
  readonly tokens: Int32Array;
  readonly confidences: Float32Array;
}

/**
 * One denoising step: run the canvas as one block after everything before it and read its masked positions; store nothing of it.
 * One forward can serve all of it exactly: in the first step of a block, the `settled` block runs in front of the canvas and its keys and
 * values are stored for good (in the first step of all, the prompt does); only the masked rows need the language-model head.
 */
export interface DenoiseQuestion {
  readonly kind: "denoise";
  /** The block, from 0; its canvas starts at `position = block * blockLength` after the prompt's end. */
  readonly block: number;
  readonly position: number;
  /** [blockLength] tokens, the mask token where nothing is settled. The asker's copy: it does not change later. */
  readonly canvas: Int32Array;
  /** Indices into `canvas` that are masked, ascending, never empty. */
  readonly masked: Int32Array;
  /** Tokens of the block just finished, to be remembered before this canvas is read; null within a block and in the first. */
  readonly settled: Int32Array | null;
  /** Tokens of all finished blocks, `settled` included. */
  readonly before: Int32Array;
  /** From 1: counted through all blocks, and within this one. */
  readonly step: number;
  readonly stepOfBlock: number;
  /** What the step before this one committed; null in the first. */
  readonly previous: StepRecord | null;
}

/** A finished decode. `canvas`, `stepMap` and `confidences` cover whole blocks, to the end of the last block begun. */
export interface Decode {
  /** The answer: cut before the first stop token and at the token limit. */
  readonly tokens: Int32Array;
  /** All positions; the mask token where decoding ended before they settled. */
  readonly canvas: Int32Array;
  /** The step that settled each position; 0 where none did. */
  readonly stepMap: Int32Array;
  /** The confidence each position was committed with; 0 where none was. */
  readonly confidences: Float32Array;
  /** Denoising steps in all and by block. */
  readonly steps: number;
  readonly stepsOfBlock: readonly number[];
  readonly ended: EndReason;
  /** The stop token that ended the answer, else null. */
  readonly stopToken: number | null;
  /** One record per step. */
  readonly trace: readonly StepRecord[];
}

export type Conversation = Generator<DenoiseQuestion, Decode, Answer>;

/** Carries a conversation through with one who answers at once. */
export function converse(conversation: Conversation, answer: (question: DenoiseQuestion) => Answer): Decode {
  let turn = conversation.next({ stop: "cancelled" });
  while (!turn.done) turn = conversation.next(answer(turn.value));
  return turn.value;
}

/**
 * Forward passes a decode takes. `separate` is the count of the official code: a prefill, the steps, and a pass that stores each block
 * begun. `fused` runs prefill and storing inside the first step of the block that follows, and never stores the last block.
 */
export function forwardPasses(decode: Decode): { readonly separate: number; readonly fused: number } {
  return { separate: 1 + decode.steps + decode.stepsOfBlock.length, fused: decode.steps };
}

/** Answer tokens per fused forward pass, the figure that block diffusion is about; 0 if no step was taken. */
export function tokensPerForward(decode: Decode): number {
  return decode.steps === 0 ? 0 : decode.tokens.length / decode.steps;
}
