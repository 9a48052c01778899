/** Evaluation while training: losses of blocks masked throughout and scores of greedy answers, before and after a few pictures are learnt. */
import { expect, test } from "vitest";
import { drawings, tinyRecipe } from "../../test/drawn-pictures.ts";
import { openCheckpointFiles } from "./base-files.ts";
import { prepareSample } from "./sample.ts";
import { preparationOf } from "./sample-pools.ts";
import { modelConfigOf, Trainer } from "./trainer.ts";
import { dueEvaluation, TrainingEvaluation } from "./training-evaluation.ts";

const recipe = { ...tinyRecipe, evaluation: { every: 5, samples: { text: 3 }, blockLengths: [1, 4] } };
const base = await openCheckpointFiles(recipe.base);

test("losses fall and answers come right as the samples are learnt", { timeout: 600_000 }, async () => {
  const heldOut = { text: drawings.slice(0, 3) };
  const samples = heldOut.text.map((drawing) => prepareSample(drawing, preparationOf(recipe, base)));
  const trainer = new Trainer({ recipe, base, state: null, pool: async () => samples, threads: 1 });
  const evaluation = new TrainingEvaluation({ recipe, base, config: modelConfigOf(recipe, base), heldOut, threads: 1 });
  const before = await evaluation.evaluate(0, trainer.state.average, true);
  for (let step = 0; step < 100; step++) await trainer.step();
  const after = await evaluation.evaluate(100, trainer.state.average, true);
  await evaluation.close();
  await trainer.close();

  // Fresh weights find every token about as likely as any other; the loss of each block length is that of its own tokens, fill left out.
  for (const block of ["block1", "block4"]) {
    expect(before.losses.text?.[block]).toBeGreaterThan(0.8 * Math.log(recipe.model.text.vocabSize));
    expect(after.losses.text?.[block]).toBeLessThan(0.2);
    expect(before.scores?.text?.[block].characterErrorRate).toBeGreaterThan(0.5);
    expect(after.scores?.text?.[block].characterErrorRate).toBe(0);
  }
  expect(before.losses.text?.character, "no dense targets, no dense loss").toBeUndefined();
});

test("is due at its steps", () => {
  const due = (step: number) => dueEvaluation({ every: 10, decodeEvery: 30, samples: { text: 1 } }, step);
  expect([5, 10, 20, 30].map(due)).toEqual(["none", "losses", "losses", "scores"]);
  expect(dueEvaluation(undefined, 10)).toBe("none");
});
