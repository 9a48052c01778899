import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DecoderOptions, decodeBlocks } from "./block-decoder.ts";
import { type CommitRuleOptions, commitStrategies, forcedCounts } from "./commit-rules.ts";
import { converse, type Decode, type DenoiseQuestion, forwardPasses, type Reading, tokensPerForward } from "./conversation.ts";
import { type Recording, recordBlocks, replay, replaySteps } from "./replay.ts";
import { seededReader } from "./seeded-reader.ts";

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../test/golden/diffusion/${name}`, import.meta.url), "utf8"));
const conversations: { maskTokenId: number; stopTokens: number[]; conversations: GoldenConversation[] } = read("conversation.json");
const official = read("decode.json");
const others = read("decode-other-strategies.json");

interface GoldenDecode {
  canvas: number[];
  stepMap: number[];
}

interface GoldenConversation {
  prompt: string;
  blockLength: number;
  threshold: number;
  genLength: number;
  tokens: number[];
  stepMap: number[];
  ended: string;
  steps: { block: number; step: number; masked: number[]; token: number[]; confidence: number[]; commit: number[] }[];
}

/** Answers as the model must have answered: what the reference committed in a step is sure, the rest is not. */
function hindsight({ canvas, stepMap }: GoldenDecode) {
  return ({ position, masked, step }: DenoiseQuestion): Reading => ({
    tokens: masked.map((index) => canvas[position + index]),
    confidences: Float32Array.from(masked, (index) => (stepMap[position + index] === step ? 0.9999 : 0.0001)),
    entropies: Float32Array.from(masked, (index) => (stepMap[position + index] === step ? 0.0001 : 9)),
  });
}

function expectSame(decode: Decode, golden: Record<string, unknown> & GoldenDecode): void {
  expect(Array.from(decode.tokens)).toEqual(golden.tokens);
  expect(Array.from(decode.canvas)).toEqual(golden.canvas);
  expect(Array.from(decode.stepMap)).toEqual(golden.stepMap);
  expect(decode.steps).toBe(golden.steps);
  expect(decode.stepsOfBlock).toEqual(golden.stepsOfBlock);
  expect(decode.ended).toBe(golden.ended);
}

describe("recorded conversations of the reference", () => {
  it.each(conversations.conversations)("are led question by question: $prompt, blocks of $blockLength", (golden) => {
    const { blockLength, threshold, genLength, steps } = golden;
    let asked = 0;
    const decode = converse(
      decodeBlocks({
        blockLength,
        maskToken: conversations.maskTokenId,
        maxTokens: genLength,
        stopTokens: conversations.stopTokens,
        rule: { threshold },
        stopEarly: false,
      }),
      (question) => {
        const expected = steps[asked++];
        expect([question.block, question.stepOfBlock, question.step]).toEqual([expected.block, expected.step, asked]);
        expect(Array.from(question.masked)).toEqual(expected.masked);
        return { tokens: Int32Array.from(expected.token), confidences: Float32Array.from(expected.confidence) };
      },
    );
    expect(asked).toBe(steps.length);
    expect(Array.from(decode.tokens)).toEqual(golden.tokens);
    expect(Array.from(decode.stepMap)).toEqual(golden.stepMap);
    expect(decode.ended).toBe(golden.ended);
    decode.trace.forEach((record, index) => {
      expect(Array.from(record.positions, (position) => position - record.block * blockLength)).toEqual(steps[index].commit);
    });
  });
});

describe("decodes of the reference, its model's answers known in hindsight", () => {
  const options = (
    golden: { blockLength: number; genLength: number; stepsPerBlock?: number; stopTokens?: number[] },
    rule: CommitRuleOptions,
  ): DecoderOptions => ({
    blockLength: golden.blockLength,
    maskToken: official.maskTokenId,
    maxTokens: golden.genLength,
    stopTokens: golden.stopTokens ?? [512, 514],
    stepsPerBlock: golden.stepsPerBlock,
    rule,
  });

  it("are the same in tokens, canvas, step map, steps, end and passes", () => {
    expect(official.decodes).toHaveLength(158);
    for (const golden of official.decodes) {
      const plan = options(golden, { threshold: golden.threshold });
      const decode = converse(decodeBlocks({ ...plan, stopEarly: false }), hindsight(golden));
      expectSame(decode, golden);
      expect(decode.stopToken).toBe(golden.stopToken ?? null);
      expect(forwardPasses(decode)).toEqual({ separate: golden.forwards, fused: golden.steps });
      const early = converse(decodeBlocks(plan), hindsight(golden));
      expect(early.tokens).toEqual(decode.tokens);
      expect([early.ended, early.stopToken]).toEqual([decode.ended, decode.stopToken]);
      expect(early.steps).toBeLessThanOrEqual(decode.steps);
    }
  });

  it("are the same under the other strategies", () => {
    expect(others.decodes).toHaveLength(29);
    for (const golden of others.decodes) {
      const { strategy, gamma, factor } = golden;
      const decode = converse(decodeBlocks({ ...options(golden, { strategy, gamma, factor }), stopEarly: false }), hindsight(golden));
      expectSame(decode, golden);
    }
  });
});

const maskToken = 7;
const anyRule: fc.Arbitrary<CommitRuleOptions> = fc.oneof(
  fc.record({ strategy: fc.constant("low_confidence_dynamic" as const), threshold: fc.constantFrom(0, 0.5, 0.9, 0.95, 1) }),
  fc.record({ strategy: fc.constantFrom("low_confidence_static" as const, "sequential" as const) }),
  fc.record({ strategy: fc.constant("entropy_bounded" as const), gamma: fc.constantFrom(0, 0.35, 3) }),
  fc.record({ strategy: fc.constant("factor" as const), factor: fc.constantFrom(0, 1, 4) }),
);
const anyOptions: fc.Arbitrary<DecoderOptions> = fc
  .record({
    blockLength: fc.integer({ min: 1, max: 33 }),
    maskToken: fc.constant(maskToken),
    maxTokens: fc.integer({ min: 1, max: 90 }),
    stopTokens: fc.constantFrom([], [3], [3, 5]),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    rule: anyRule,
    stopEarly: fc.boolean(),
  })
  .map(({ share, ...options }) => ({ ...options, stepsPerBlock: 1 + Math.floor(share * (options.blockLength - 1)) }));
const readerOf = (seed: number, vocabularySize = 60) => seededReader(seed, { vocabularySize, maskToken });

describe("decoding", () => {
  it("settles every position once, by the rule, within the steps a block may take, and never to the mask token", () => {
    fc.assert(
      fc.property(anyOptions, fc.nat(), (options, seed) => {
        const { blockLength, maxTokens, stepsPerBlock } = options;
        const due = forcedCounts(blockLength, stepsPerBlock!);
        const settledTwice: number[] = [];
        const stepMap = new Map<number, number>();
        const answer = readerOf(seed);
        const decode = converse(decodeBlocks(options), (question) => {
          expect(question.position).toBe(question.block * blockLength);
          expect(question.canvas).toHaveLength(blockLength);
          expect(Array.from(question.masked)).toEqual(
            Array.from(question.canvas.keys()).filter((index) => question.canvas[index] === maskToken),
          );
          expect(question.before.includes(maskToken)).toBe(false);
          expect(question.settled).toEqual(question.stepOfBlock === 1 && question.block > 0 ? question.before.slice(-blockLength) : null);
          expect(question.previous?.step ?? 0).toBe(question.step - 1);
          return answer(question);
        });
        for (const { step, block, masked, positions, tokens, confidences } of decode.trace) {
          expect(positions.length).toBeGreaterThanOrEqual(
            Math.min(masked, due[step - 1 - decode.stepsOfBlock.slice(0, block).reduce((sum, steps) => sum + steps, 0)]),
          );
          positions.forEach((position, index) => {
            if (stepMap.has(position)) settledTwice.push(position);
            stepMap.set(position, step);
            expect(Math.floor(position / blockLength)).toBe(block);
            expect(decode.canvas[position]).toBe(tokens[index]);
            expect(decode.confidences[position]).toBe(confidences[index]);
            expect(tokens[index]).not.toBe(maskToken);
          });
        }
        expect(settledTwice).toEqual([]);
        decode.stepMap.forEach((step, position) => {
          expect(step).toBe(stepMap.get(position) ?? 0);
          expect(decode.canvas[position] === maskToken).toBe(step === 0);
        });
        expect(decode.canvas).toHaveLength(decode.stepsOfBlock.length * blockLength);
        const lastBlock = decode.stepsOfBlock.length - 1;
        decode.stepMap.forEach((step, position) => {
          if (!options.stopEarly || position < lastBlock * blockLength) expect(step).toBeGreaterThan(0);
        });
        for (const steps of decode.stepsOfBlock) expect(steps).toBeLessThanOrEqual(stepsPerBlock!);
        expect(decode.stepsOfBlock.reduce((sum, steps) => sum + steps, 0)).toBe(decode.steps);
        expect(decode.tokens.length).toBeLessThanOrEqual(maxTokens);
        expect(decode.tokens).toEqual(decode.canvas.slice(0, decode.tokens.length));
        expect(decode.tokens.some((token) => token === maskToken || options.stopTokens!.includes(token))).toBe(false);
        if (decode.ended === "stop") expect(decode.canvas[decode.tokens.length]).toBe(decode.stopToken);
        else expect([decode.ended, decode.tokens.length, decode.stopToken]).toEqual(["length", maxTokens, null]);
      }),
    );
  });

  it("stops early without a change to the text", () => {
    let saved = 0;
    fc.assert(
      fc.property(anyOptions, fc.nat(), (options, seed) => {
        const full = converse(decodeBlocks({ ...options, stopEarly: false }), readerOf(seed, 20));
        const early = converse(decodeBlocks({ ...options, stopEarly: true }), readerOf(seed, 20));
        expect([early.tokens, early.ended, early.stopToken]).toEqual([full.tokens, full.ended, full.stopToken]);
        expect(early.trace).toEqual(full.trace.slice(0, early.steps));
        saved += full.steps - early.steps;
      }),
      { seed: 1, numRuns: 200 },
    );
    expect(saved).toBeGreaterThan(0);
  });

  it("answers with a lower token limit in a prefix of the answer with a higher one", () => {
    fc.assert(
      fc.property(anyOptions, fc.nat(), fc.nat(40), (options, seed, more) => {
        const shorter = converse(decodeBlocks(options), readerOf(seed));
        const longer = converse(decodeBlocks({ ...options, maxTokens: options.maxTokens + more }), readerOf(seed));
        expect(shorter.tokens).toEqual(longer.tokens.slice(0, options.maxTokens));
      }),
    );
  });

  it("is autoregression with blocks of one, and full-sequence diffusion with one block", () => {
    const answer = readerOf(4);
    const plain: number[] = [];
    while (plain.length < 30) {
      const before = Int32Array.from(plain);
      const question = {
        before,
        canvas: Int32Array.of(maskToken),
        masked: Int32Array.of(0),
        position: plain.length,
      } as unknown as DenoiseQuestion;
      plain.push(answer(question).tokens[0]);
    }
    const causal = converse(decodeBlocks({ blockLength: 1, maskToken, maxTokens: 30 }), answer);
    expect(Array.from(causal.tokens)).toEqual(plain);
    expect(tokensPerForward(causal)).toBe(1);
    const whole = converse(
      decodeBlocks({ blockLength: 30, maskToken, maxTokens: 30, stepsPerBlock: 6, rule: { strategy: "low_confidence_static" } }),
      answer,
    );
    expect([whole.stepsOfBlock, tokensPerForward(whole)]).toEqual([[6], 5]);
  });

  it("hands out copies: neither asker nor answerer can change the other's canvas", () => {
    const answer = readerOf(9);
    const options = { blockLength: 8, maskToken, maxTokens: 24 };
    const meddled = converse(decodeBlocks(options), (question) => {
      const reading = answer(question);
      for (const array of [question.canvas, question.masked, question.before, question.settled]) array?.fill(1);
      return reading;
    });
    expect(meddled).toEqual(converse(decodeBlocks(options), answer));
  });
});

describe("interruption", () => {
  const options = { blockLength: 8, maskToken, maxTokens: 13, stopTokens: [3] };

  it("keeps what is settled without a gap, and no more than asked", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(16), fc.option(fc.nat(30), { nil: undefined }), fc.boolean(), (seed, steps, keep, stopEarly) => {
        const answer = readerOf(seed);
        const decode = converse(decodeBlocks({ ...options, stopEarly }), (question) =>
          question.step > steps ? { stop: "repetition", keep } : answer(question),
        );
        fc.pre(decode.ended === "repetition");
        const gap = decode.canvas.findIndex((token) => token === maskToken || token === 3);
        expect(decode.tokens).toEqual(decode.canvas.slice(0, Math.min(gap < 0 ? decode.canvas.length : gap, keep ?? 13, 13)));
        expect([decode.steps, decode.stopToken]).toEqual([steps, null]);
      }),
    );
  });

  it("keeps no more than the token limit, though the last canvas reaches beyond it", () => {
    const answer = seededReader(1, { vocabularySize: 3, maskToken });
    const sequential = { ...options, rule: { strategy: "sequential" as const }, stopEarly: false };
    const decode = converse(decodeBlocks(sequential), (question) => (question.step > 15 ? { stop: "cancelled" } : answer(question)));
    expect([decode.tokens.length, decode.stepMap[14], decode.stepMap[15]]).toEqual([13, 15, 0]);
    const overlong = converse(decodeBlocks(sequential), (question) =>
      question.step > 15 ? { stop: "repetition", keep: 14 } : answer(question),
    );
    expect(overlong.tokens).toEqual(decode.tokens);
    expect(() => converse(decodeBlocks(options), () => ({ stop: "repetition", keep: -1 }))).toThrow(
      "`keep` expected an integer of at least 0",
    );
  });

  it("before the first step leaves an empty answer", () => {
    const decode = converse(decodeBlocks(options), () => ({ stop: "cancelled" }));
    expect([decode.ended, decode.tokens.length, decode.steps, tokensPerForward(decode)]).toEqual(["cancelled", 0, 0, 0]);
  });
});

describe("replay", () => {
  it("gives the original decode bit for bit after a passage through JSON, and its questions one by one", () => {
    fc.assert(
      fc.property(anyOptions, fc.nat(), fc.nat(60), (options, seed, patience) => {
        const answer = readerOf(seed);
        const questions: DenoiseQuestion[] = [];
        const { conversation, recording } = recordBlocks(options);
        const decode = converse(conversation, (question) => {
          questions.push(question);
          return question.step > patience ? { stop: "cancelled" } : answer(question);
        });
        const stored = JSON.parse(JSON.stringify(recording)) as Recording;
        expect(replay(stored)).toEqual(decode);
        expect([...replaySteps(stored)]).toEqual(questions);
        expect(recording.answers).toHaveLength(questions.length);
      }),
    );
  });

  it("keeps entropies and candidates for whoever looks at it", () => {
    const { conversation, recording } = recordBlocks({ blockLength: 2, maskToken, maxTokens: 2 });
    const candidates = [[{ token: 1, probability: 0.5 }], [{ token: 2, probability: 0.25 }]];
    converse(conversation, () => ({
      tokens: Int32Array.of(1, 2),
      confidences: Float32Array.of(0.99, 0.98),
      entropies: Float32Array.of(0.5, 0.25),
      candidates,
    }));
    expect(recording.answers).toEqual([
      { tokens: [1, 2], confidences: [Math.fround(0.99), Math.fround(0.98)], entropies: [0.5, 0.25], candidates },
    ]);
  });

  it("refuses recordings that are too short or too long", () => {
    const { conversation, recording } = recordBlocks({ blockLength: 4, maskToken, maxTokens: 8 });
    converse(conversation, readerOf(1));
    expect(() => replay({ ...recording, answers: recording.answers.slice(1) })).toThrow(RangeError);
    expect(() => replay({ ...recording, answers: recording.answers.slice(0, -1) })).toThrow("the decode did not end");
    expect(() => replay({ ...recording, answers: [...recording.answers, recording.answers[0]] })).toThrow("`recording.answers` expected");
  });
});

describe("wrong arguments", () => {
  const options = { blockLength: 4, maskToken, maxTokens: 8 };

  it("are refused when the decoder is made, before any question", () => {
    expect(() => decodeBlocks({ ...options, blockLength: 0 })).toThrow("`blockLength` expected an integer of at least 1, got 0");
    expect(() => decodeBlocks({ ...options, maxTokens: 0 })).toThrow("`maxTokens` expected an integer of at least 1, got 0");
    expect(() => decodeBlocks({ ...options, stepsPerBlock: 5 })).toThrow("`stepsPerBlock` expected an integer from 1 to 4, got 5");
    expect(() => decodeBlocks({ ...options, stopTokens: [maskToken] })).toThrow("`stopTokens` expected no mask token");
    expect(() => decodeBlocks({ ...options, rule: { threshold: 2 } })).toThrow(RangeError);
    expect(commitStrategies).toHaveLength(5);
  });

  it("are refused in answers", () => {
    const answer = (reading: Partial<Reading>): Decode =>
      converse(decodeBlocks(options), ({ masked }) => ({
        tokens: new Int32Array(masked.length),
        confidences: new Float32Array(masked.length),
        ...reading,
      }));
    expect(() => answer({ tokens: Int32Array.of(1, 2, 3) })).toThrow("`tokens` expected one entry for each of 4 masked positions, got 3");
    expect(() => answer({ tokens: Int32Array.of(1, 7, 3, 4) })).toThrow("`tokens` expected no mask token, got 7 at index 1");
    expect(() => answer({ confidences: Float32Array.of(1, 0, Number.NaN, 0) })).toThrow(
      "`confidences` expected numbers from 0 to 1, got NaN at index 2",
    );
    expect(() => answer({ entropies: new Float32Array(5) })).toThrow("`entropies` expected one entry");
  });
});
