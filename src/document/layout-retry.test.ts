import { describe, expect, test } from "vitest";
import { borderOf, decideLayout, withoutBorder } from "./layout-retry.ts";
import { parseLayout, writeLayout } from "./layout-text.ts";

const page = { width: 1000, height: 2000, blank: false };
const nothing = parseLayout("", page);
const table = parseLayout("<|box_start|>100 100 900 900<|box_end|><|ref_start|>table<|ref_end|><|rotate_up|>", page);

describe("what follows from a layout answer", () => {
  test("regions are taken", () => {
    expect(decideLayout("plain", table, page)).toEqual({ kind: "accept", regions: table.regions, warnings: [] });
  });

  test("a blank page has none and warns of nothing", () => {
    expect(decideLayout("plain", nothing, { ...page, blank: true })).toEqual({ kind: "accept", regions: [], warnings: [] });
  });

  test("nothing: ask again with a border, then read the page whole", () => {
    expect(decideLayout("plain", nothing, page)).toEqual({ kind: "ask-again", attempt: "bordered" });
    const last = decideLayout("bordered", nothing, page);
    expect(last).toMatchObject({ kind: "accept", regions: [{ class: "text", box: [0, 0, 1000, 1000], pixelBox: [0, 0, 1000, 2000] }] });
    expect(last.kind === "accept" && last.warnings.map((w) => w.kind)).toEqual(["empty-layout", "whole-page"]);
  });

  test("regions of a bordered page go back to the page's own thousandths", () => {
    const decision = decideLayout("bordered", table, page);
    expect(decision).toMatchObject({ kind: "accept", warnings: [{ kind: "layout-retried" }] });
    if (decision.kind !== "accept") throw new Error("internal: not accepted");
    expect(decision.regions[0].box).toEqual([20, 20, 980, 980]);
    expect(decision.regions[0].pixelBox).toEqual([20, 40, 980, 1960]);
  });

  test("a box exactly on the page comes back as the whole page, one on the border is dropped", () => {
    const border = borderOf(page);
    expect(border).toEqual({ left: 100, top: 200, right: 100, bottom: 200 });
    const edge = Math.round((100 / 1200) * 1000);
    const whole = {
      class: "text",
      box: [edge, edge, 1000 - edge, 1000 - edge] as const,
      pixelBox: [0, 0, 1, 1] as const,
      angle: 0 as const,
    };
    expect(withoutBorder([whole], page)[0].box).toEqual([0, 0, 1000, 1000]);
    expect(withoutBorder([{ ...whole, box: [0, 0, 50, 1000] }], page)).toEqual([]);
    expect(writeLayout(withoutBorder([whole], page))).toContain("000 000 1000 1000");
  });
});
