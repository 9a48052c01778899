/**
 * The block-wise diffusion decoder (the paper's equations (5) and (6)) as a conversation. The answer grows block by block: a canvas of
 * mask tokens is asked about step after step, each step commits the positions its rule is sure of, a full block becomes context for the
 * next. Full-sequence diffusion is one block as long as the answer, autoregression is block length 1. It owns no prompt, tensor, session,
 * randomness or text.
 */

import { type CommitRuleOptions, commitRule, forcedCounts, selectCommits } from "./commit-rules.ts";
import type { Answer, Conversation, Decode, EndReason, Reading, StepRecord } from "./conversation.ts";
import { integerIn } from "./ranges.ts";
import { type AnswerEnd, answerEnd, firstStop } from "./stopping.ts";

/** What a decoder needs to know. Survives JSON. */
export interface DecoderOptions {
  readonly blockLength: number;
  readonly maskToken: number;
  /**
   * The answer is cut after this many tokens. It need not be a multiple of the block length: the last canvas is a whole block all the
   * same, so that an answer with a lower limit is a prefix of the answer with a higher one.
   */
  readonly maxTokens: number;
  /** Tokens that end the answer and are not part of it. Default none. */
  readonly stopTokens?: readonly number[];
  /** Steps a block may take at most; default `blockLength`. Below that, several positions are due in each step. */
  readonly stepsPerBlock?: number;
  /** Default `low_confidence_dynamic` with threshold 0.95. */
  readonly rule?: CommitRuleOptions;
  /**
   * Stop as soon as the end of the answer is final instead of filling the last block first. The tokens are the same; steps are fewer.
   * Default true; false counts and fills as the official code does.
   */
  readonly stopEarly?: boolean;
}

/** Begins a decode. RangeError at once for options out of range; RangeError inside the conversation for an answer that fits no question. */
export function decodeBlocks(options: DecoderOptions): Conversation {
  const blockLength = integerIn("blockLength", options.blockLength, 1);
  const plan = {
    blockLength,
    maskToken: integerIn("maskToken", options.maskToken, 0),
    maxTokens: integerIn("maxTokens", options.maxTokens, 1),
    stopTokens: (options.stopTokens ?? []).map((token) => integerIn("stopTokens", token, 0)),
    due: forcedCounts(blockLength, options.stepsPerBlock ?? blockLength),
    rule: commitRule(options.rule),
    stopEarly: options.stopEarly ?? true,
  };
  if (plan.stopTokens.includes(plan.maskToken)) throw new RangeError(`\`stopTokens\` expected no mask token, got ${plan.maskToken}`);
  return conversation(plan);
}

type Plan = Required<Omit<DecoderOptions, "stepsPerBlock" | "rule">> & {
  readonly due: Int32Array;
  readonly rule: ReturnType<typeof commitRule>;
};

function* conversation(plan: Plan): Conversation {
  const { blockLength, maskToken, maxTokens, stopTokens } = plan;
  const positions = Math.ceil(maxTokens / blockLength) * blockLength;
  const answer = new Int32Array(positions).fill(maskToken);
  const stepMap = new Int32Array(positions);
  const confidences = new Float32Array(positions);
  const stepsOfBlock: number[] = [];
  const trace: StepRecord[] = [];
  let settled = 0; // positions settled without a gap, from the start

  function finish(tokens: number, ended: EndReason, stopToken: number | null): Decode {
    const end = stepsOfBlock.length * blockLength;
    return {
      tokens: answer.slice(0, tokens),
      canvas: answer.slice(0, end),
      stepMap: stepMap.slice(0, end),
      confidences: confidences.slice(0, end),
      steps: trace.length,
      stepsOfBlock,
      ended,
      stopToken,
      trace,
    };
  }

  for (let position = 0; position < positions; position += blockLength) {
    const block = stepsOfBlock.length;
    const blockEnd = position + blockLength;
    stepsOfBlock.push(0);
    while (settled < blockEnd) {
      const masked = maskedIndices(stepMap, position, blockEnd);
      const stepOfBlock = stepsOfBlock[block] + 1;
      const reply: Answer = yield {
        kind: "denoise",
        block,
        position,
        canvas: answer.slice(position, blockEnd),
        masked: masked.slice(),
        settled: stepOfBlock === 1 && block > 0 ? answer.slice(position - blockLength, position) : null,
        before: answer.slice(0, position),
        step: trace.length + 1,
        stepOfBlock,
        previous: trace.at(-1) ?? null,
      };
      if ("stop" in reply) {
        const kept = Math.min(settled, maxTokens, integerIn("keep", reply.keep ?? settled, 0));
        return finish(firstStop(answer, stopTokens, kept) ?? kept, reply.stop, null);
      }
      checkReading(reply, masked.length, maskToken);

      const places = selectCommits(plan.rule, reply, plan.due[stepOfBlock - 1]);
      const record: StepRecord = {
        step: trace.length + 1,
        block,
        masked: masked.length,
        positions: places.map((place) => position + masked[place]),
        tokens: places.map((place) => reply.tokens[place]),
        confidences: Float32Array.from(places, (place) => reply.confidences[place]),
      };
      record.positions.forEach((committed, index) => {
        answer[committed] = record.tokens[index];
        stepMap[committed] = record.step;
        confidences[committed] = record.confidences[index];
      });
      trace.push(record);
      stepsOfBlock[block] = stepOfBlock;
      while (settled < blockEnd && stepMap[settled] > 0) settled++;

      const end: AnswerEnd | null = plan.stopEarly || settled === blockEnd ? answerEnd(answer, settled, stopTokens, maxTokens) : null;
      if (end !== null) return finish(end.tokens, end.stopToken === null ? "length" : "stop", end.stopToken);
    }
  }
  throw new Error("internal: the last block was filled and the answer did not end");
}

function maskedIndices(stepMap: Int32Array, from: number, to: number): Int32Array {
  const indices: number[] = [];
  for (let position = from; position < to; position++) if (stepMap[position] === 0) indices.push(position - from);
  return Int32Array.from(indices);
}

/** One token and confidence per masked position, never the mask token: whoever answers must forbid it before it reads. */
function checkReading({ tokens, confidences, entropies }: Reading, masked: number, maskToken: number): void {
  for (const [name, values] of Object.entries({ tokens, confidences, entropies })) {
    if (values !== undefined && values.length !== masked) {
      throw new RangeError(`\`${name}\` expected one entry for each of ${masked} masked positions, got ${values.length}`);
    }
  }
  for (let index = 0; index < masked; index++) {
    if (tokens[index] === maskToken) throw new RangeError(`\`tokens\` expected no mask token, got ${maskToken} at index ${index}`);
    if (!(confidences[index] >= 0 && confidences[index] <= 1)) {
      throw new RangeError(`\`confidences\` expected numbers from 0 to 1, got ${confidences[index]} at index ${index}`);
    }
    if (entropies !== undefined && Number.isNaN(entropies[index]))
      throw new RangeError(`\`entropies\` expected numbers, got NaN at index ${index}`);
  }
}
