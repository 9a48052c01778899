import { describe, expect, test } from "vitest";
import { planRegions, taskOf } from "./regions.ts";
import { REGION_CLASSES } from "./types.ts";

describe("which task reads a region", () => {
  test("every class has its task", () => {
    const tasks = Object.fromEntries(REGION_CLASSES.map((name) => [name, taskOf(name)]));
    expect(tasks).toMatchObject({
      text: "text",
      table: "table",
      equation: "formula",
      image: null,
      equation_block: null,
      chart: "text",
      unknown: "text",
    });
    expect(taskOf("stamp")).toBe("text");
  });

  const at = (name: string, top: number, bottom: number) => ({ class: name, box: [0, top, 1000, bottom] as const });

  test("pictures and containers are skipped, with the reason", () => {
    const plan = planRegions([at("image", 0, 100), at("chart", 100, 200), at("equation_block", 200, 300), at("text", 300, 400)]);
    expect(plan).toEqual([
      { region: 0, task: null, skipped: "picture" },
      { region: 1, task: null, skipped: "picture" },
      { region: 2, task: null, skipped: "container" },
      { region: 3, task: "text" },
    ]);
  });

  test("a list is read unless its items are", () => {
    expect(planRegions([at("list", 0, 300), at("text", 500, 600)])[0].task).toBe("text");
    expect(planRegions([at("list", 0, 300), at("text", 10, 100)])[0].skipped).toBe("container");
  });

  test("the policy switches tasks off and pictures on", () => {
    const regions = [at("table", 0, 100), at("equation", 100, 200), at("footer", 200, 300), at("chart", 300, 400), at("image", 400, 500)];
    const plan = planRegions(regions, { readTables: false, readFormulas: false, readParatext: false, readPictures: true });
    expect(plan.map((p) => p.skipped ?? p.task)).toEqual(["switched-off", "switched-off", "switched-off", "text", "picture"]);
  });
});
