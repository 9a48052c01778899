/**
 * One region while it is decoded: its prompt, its conversation with the decoder, and its guards. It knows what the decoder asks next and
 * how to answer from logits; it holds no session and no cache.
 */
import { type DecoderOptions, decodeBlocks } from "../diffusion/block-decoder.ts";
import { readLogits } from "../diffusion/confidence.ts";
import type { Answer, Conversation, Decode, DenoiseQuestion } from "../diffusion/conversation.ts";
import { createRandom, type Random } from "../diffusion/random.ts";
import { findRepetition } from "../diffusion/repetition.ts";
import { type Recording, recordBlocks } from "../diffusion/replay.ts";
import type { DecodingOptions } from "./types.ts";

export interface SequencePrompt {
  readonly ids: Int32Array;
  /** [imageTokens, hiddenSize], or null for a prompt without image. */
  readonly features: Float32Array | null;
}

export interface SequenceOptions {
  readonly decoder: DecoderOptions;
  readonly decoding: DecodingOptions;
  readonly vocabularySize: number;
  readonly forbidden: readonly number[];
}

export class Sequence {
  readonly prompt: SequencePrompt;
  readonly recording: Recording | null;
  forwards = 0;
  readonly #options: SequenceOptions;
  readonly #conversation: Conversation;
  readonly #random: Random | undefined;
  #turn: IteratorResult<DenoiseQuestion, Decode>;

  constructor(prompt: SequencePrompt, options: SequenceOptions) {
    this.prompt = prompt;
    this.#options = options;
    const { decoding, decoder } = options;
    const recorded = decoding.record ? recordBlocks(decoder) : null;
    this.recording = recorded?.recording ?? null;
    this.#conversation = recorded?.conversation ?? decodeBlocks(decoder);
    this.#random = decoding.temperature ? createRandom(decoding.seed ?? 0) : undefined;
    this.#turn = this.#conversation.next({ stop: "cancelled" });
  }

  get question(): DenoiseQuestion | null {
    return this.#turn.done ? null : this.#turn.value;
  }

  get decode(): Decode | null {
    return this.#turn.done ? this.#turn.value : null;
  }

  /** Answers the open question from the logits of its masked rows: [masked, vocabularySize]. */
  answer(logits: Float32Array): void {
    const { decoding, decoder, vocabularySize, forbidden } = this.#options;
    const reading = readLogits(logits, {
      vocabularySize,
      forbidden,
      temperature: decoding.temperature,
      topK: decoding.topK,
      topP: decoding.topP,
      random: this.#random,
      entropies: decoder.rule?.strategy === "entropy_bounded",
      candidates: decoding.record?.candidates,
    });
    this.#reply(this.#guarded(reading));
  }

  cancel(): void {
    if (!this.#turn.done) this.#reply({ stop: "cancelled" });
  }

  #reply(answer: Answer): void {
    this.#turn = this.#conversation.next(answer);
  }

  /** A runaway is looked for once per block, over the settled blocks. */
  #guarded(reading: Answer): Answer {
    const question = this.question!;
    if (question.stepOfBlock !== 1 || question.before.length === 0) return reading;
    const repetition = findRepetition(question.before);
    return repetition ? { stop: "repetition", keep: repetition.start + repetition.unit } : reading;
  }
}
