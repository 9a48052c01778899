/** Recipes that are, and what is said of those that are not. */
import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { augmentationOf, parseRecipe, readRecipe, stageOfStep } from "./recipe.ts";

const folder = new URL("../../recipes/", import.meta.url).pathname;
const recipes = (await readdir(folder)).filter((name) => name.endsWith(".json"));
const mini = await readFile(`${folder}mini.json`, "utf8");

/** The mini recipe with the value at `path` changed (`undefined` takes it away); what is said of it. */
function saidOf(path: string, value: unknown): string {
  const json = JSON.parse(mini);
  const keys = path.split(".");
  const last = keys.pop()!;
  const owner = keys.reduce((object, key) => object[key], json);
  owner[last] = value;
  try {
    parseRecipe(JSON.stringify(json), "changed.json");
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("a recipe", () => {
  test.each(recipes)("%s is one", async (name) => {
    expect((await readRecipe(`${folder}${name}`)).stages.length).toBeGreaterThan(0);
  });

  test.each([
    ["seed", "many", "`seed` expected"],
    ["stages", [], "`stages` "],
    ["stages.1.noising.low", 2, "`stages[1].noising.low` "],
    ["stages.1.noising.low", 0.9, ""],
    ["stages.1.noising.high", 0.1, "`stages[1].noising.low` expected at most `high`"],
    ["stages.1.noising.schedule", "log", "`stages[1].noising.schedule` "],
    ["stages.1.noising.schedule", "cosine", ""],
    ["stages.1.noising.blockLengths", [], "`stages[1].noising.blockLengths` "],
    ["stages.1.pool", { words: 3 }, '`stages[1].pool` Unrecognized key: "words"'],
    ["stages.1.pool", { text: 0 }, "`stages[1].pool` expected a kind with at least one sample"],
    ["stages.1.warmUpSteps", 3, "warmUpSteps"],
    ["stages.1.rows", 0, "`stages[1].rows` expected more than 0"],
    ["stages.1.lines", [3, 1], "`stages[1].lines` expected the smaller number first"],
    ["stages.1.augmentation", { layout: 0.1, text: 2 }, "`stages[1].augmentation"],
    ["stages.1.augmentation", { layout: 0.1, text: 0.5 }, ""],
    ["stages.1.steps", undefined, "`stages[1].steps` expected number, received undefined"],
    ["model.text.kvHeads", 3, "`model.text.heads` expected a multiple of `kvHeads`"],
    ["characterSlots", 0, "`characterSlots` expected more than 0 where a stage has the scope tower"],
    ["evaluation", { every: 0, samples: { text: 4 } }, "`evaluation.every` "],
    ["evaluation", { every: 100, decodeEvery: 500, samples: { text: 4 } }, ""],
  ])("with `%s` = %j: %s", (path, value, said) => {
    if (said === "") expect(saidOf(path, value)).toBe("");
    else expect(saidOf(path, value)).toMatch(/^the recipe changed\.json is not valid: /);
    expect(saidOf(path, value)).toContain(said);
  });

  test("that is no JSON, or is not there, is told with its name", async () => {
    expect(() => parseRecipe("{", "half.json")).toThrow(/^the recipe half\.json expected JSON/);
    await expect(readRecipe("no/such.json")).rejects.toMatchObject({ code: "file-unreadable" });
  });
});

test("stages follow one another by their steps", () => {
  const recipe = parseRecipe(mini, "mini.json");
  expect(stageOfStep(recipe, 1)).toMatchObject({ index: 0, stepInStage: 1 });
  expect(stageOfStep(recipe, recipe.stages[0].steps + 1)).toMatchObject({ index: 1, stepInStage: 1 });
  expect(
    stageOfStep(
      recipe,
      recipe.stages.reduce((sum, { steps }) => sum + steps, 1),
    ),
  ).toBeNull();
});

test("augmentation is one strength, or one for each kind named", () => {
  expect(augmentationOf({ augmentation: 0.4 }, "layout")).toBe(0.4);
  expect(augmentationOf({ augmentation: { text: 0.5 } }, "text")).toBe(0.5);
  expect(augmentationOf({ augmentation: { text: 0.5 } }, "layout")).toBe(0);
});
