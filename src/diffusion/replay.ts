/**
 * Recorded decodes. The decoder is a pure function of its options and the answers it was given, so options and answers *are* the decode:
 * kept as JSON they replay bit for bit, step by step, without a model. This is what a page scrubs through. Float32 values survive JSON
 * because a float32 printed as a JavaScript number is printed exactly.
 */

import { type DecoderOptions, decodeBlocks } from "./block-decoder.ts";
import type { Answer, Candidate, Conversation, Decode, DenoiseQuestion, Interruption } from "./conversation.ts";

/** A reading with plain arrays, or an interruption. */
export type RecordedAnswer = RecordedReading | Interruption;

export interface RecordedReading {
  readonly tokens: readonly number[];
  readonly confidences: readonly number[];
  readonly entropies?: readonly number[];
  readonly candidates?: readonly (readonly Candidate[])[];
}

/** A decode as JSON. `answers` grows while the conversation goes on. */
export interface Recording {
  readonly options: DecoderOptions;
  readonly answers: RecordedAnswer[];
}

/** Begins a decode whose answers are written down as they come. */
export function recordBlocks(options: DecoderOptions): { readonly conversation: Conversation; readonly recording: Recording } {
  const recording: Recording = { options, answers: [] };
  return { conversation: listen(decodeBlocks(options), recording.answers), recording };
}

/** The recorded conversation again: yields the same questions, needs no answers, returns the same decode. */
export function* replaySteps({ options, answers }: Recording): Generator<DenoiseQuestion, Decode, void> {
  const conversation = decodeBlocks(options);
  let turn = conversation.next({ stop: "cancelled" });
  for (const answer of answers) {
    if (turn.done) throw new RangeError(`\`recording.answers\` expected ${turn.value.steps} answers, got ${answers.length}`);
    yield turn.value;
    turn = conversation.next(unpack(answer));
  }
  if (!turn.done) throw new RangeError(`\`recording.answers\` expected more than ${answers.length} answers: the decode did not end`);
  return turn.value;
}

/** The decode that a recording led to. RangeError if its answers are too few, too many or fit no question. */
export function replay(recording: Recording): Decode {
  const steps = replaySteps(recording);
  let turn = steps.next();
  while (!turn.done) turn = steps.next();
  return turn.value;
}

function* listen(conversation: Conversation, answers: RecordedAnswer[]): Conversation {
  let turn = conversation.next({ stop: "cancelled" });
  while (!turn.done) {
    const answer = yield turn.value;
    turn = conversation.next(answer);
    answers.push(pack(answer));
  }
  return turn.value;
}

function pack(answer: Answer): RecordedAnswer {
  if ("stop" in answer) return answer;
  const { tokens, confidences, entropies, candidates } = answer;
  return {
    tokens: Array.from(tokens),
    confidences: Array.from(confidences),
    ...(entropies && { entropies: Array.from(entropies) }),
    ...(candidates && { candidates }),
  };
}

function unpack(answer: RecordedAnswer): Answer {
  if ("stop" in answer) return answer;
  return {
    tokens: Int32Array.from(answer.tokens),
    confidences: Float32Array.from(answer.confidences),
    ...(answer.entropies && { entropies: Float32Array.from(answer.entropies) }),
    ...(answer.candidates && { candidates: answer.candidates }),
  };
}
