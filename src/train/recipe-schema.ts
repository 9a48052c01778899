/**
 * Which JSON is a recipe: every field's kind and range, and what must hold between fields. Fields that no one reads are mistakes of
 * spelling and refused. It refuses to know what the fields do.
 */
import * as z from "zod";
import { noiseSchedules } from "../diffusion/noise-schedule.ts";
import { CONTENT_WEIGHTS, type ContentKind } from "../synth/content.ts";

const kinds = ["text", "layout", "table", "formula"] as const;

const count = z.int().min(1);
const share = z.number().min(0).max(1);
const rate = z.number().min(0);
const range = z
  .tuple([z.number().positive(), z.number().positive()])
  .refine(([low, high]) => low <= high, "expected the smaller number first");
const byKind = <T extends z.ZodType>(value: T) => z.partialRecord(z.enum(kinds), value);

const text = z
  .strictObject({
    hiddenSize: count,
    intermediateSize: count,
    layers: count,
    heads: count,
    kvHeads: count,
    headDim: count.multipleOf(2),
    vocabSize: count,
    ropeTheta: z.number().positive(),
    rmsNormEps: z.number().positive(),
    tied: z.boolean(),
  })
  .refine(({ heads, kvHeads }) => heads % kvHeads === 0, { path: ["heads"], error: "expected a multiple of `kvHeads`" });

const vision = z
  .strictObject({
    depth: count,
    embedDim: count,
    heads: count,
    mlpRatio: z.number().positive(),
    patchSize: count,
    temporalPatchSize: count,
    mergeSize: count,
    inChannels: count,
  })
  .refine(({ embedDim, heads }) => embedDim % (4 * heads) === 0, { path: ["embedDim"], error: "expected a multiple of 4 * `heads`" });

const noising = z
  .strictObject({
    blockLengths: z.array(count).min(1),
    weighting: z.enum(["masked-mean", "likelihood"]),
    tokensPerBatch: z.number().positive().optional(),
    low: z.number().min(1e-6).max(1).optional(),
    high: z.number().min(1e-6).max(1).optional(),
    schedule: z.enum(Object.keys(noiseSchedules) as [keyof typeof noiseSchedules]).optional(),
    per: z.enum(["block", "sequence"]).optional(),
    stratified: z.boolean().optional(),
    allMasked: share.optional(),
    resample: z.boolean().optional(),
    copies: count.max(200).optional(),
    complementary: z.boolean().optional(),
  })
  .refine(({ low = 0.1, high = 1 }) => low <= high, {
    path: ["low"],
    error: "expected at most `high` (1 if absent; `low` is 0.1 if absent)",
  });

const drawing = {
  lines: range,
  widthPx: range,
  sizePx: range,
  augmentation: z.union([share, byKind(share)]),
  content: z.partialRecord(z.enum(Object.keys(CONTENT_WEIGHTS) as [ContentKind]), rate).optional(),
  tables: z.strictObject({ rows: range, columns: range, widthPx: range, sizePx: range }).partial().optional(),
  formulas: z
    .strictObject({ sizePx: range, sizes: z.strictObject({ inline: rate, small: rate, middle: rate, large: rate }) })
    .partial()
    .optional(),
};

export const drawingSchema = z.strictObject(drawing);

const stage = z
  .strictObject({
    name: z.string().min(1),
    scope: z.enum(["tower", "full"]),
    steps: count,
    peakRate: rate,
    floorRate: rate,
    warmupSteps: z.int().min(0),
    visionRateScale: rate.optional(),
    accumulate: count.optional(),
    pool: byKind(z.int().min(0)),
    passes: count.optional(),
    hardSamples: z.strictObject({ file: z.string().min(1), perPool: count }).optional(),
    ...drawing,
    imageTokens: count,
    rows: z.int().min(0),
    noising,
    characterWeight: rate,
    regionWeight: rate,
    edgeWeight: rate,
  })
  .refine(({ pool, hardSamples }) => hardSamples || Object.values(pool).some((samples) => (samples ?? 0) > 0), {
    path: ["pool"],
    error: "expected a kind with at least one sample",
  })
  .refine(({ scope, rows }) => scope === "tower" || rows > 0, { path: ["rows"], error: "expected more than 0 where `scope` is full" })
  .refine(({ scope, characterWeight, regionWeight, edgeWeight }) => scope === "full" || characterWeight + regionWeight + edgeWeight > 0, {
    path: ["characterWeight"],
    error: "expected a weight of dense supervision above 0 where `scope` is tower",
  });

const recipe = z
  .strictObject({
    seed: z.int().min(0),
    model: z.strictObject({ blockLength: count, text, vision }),
    base: z.string().min(1),
    layoutSize: count,
    maxRegionTokens: count,
    linePixels: count.optional(),
    characterSlots: z.int().min(0),
    optimizer: z.strictObject({
      beta1: z.number().min(0).lt(1),
      beta2: z.number().min(0).lt(1),
      epsilon: z.number().positive(),
      weightDecay: rate,
      maxNorm: z.number().positive(),
      muonMomentum: z.number().min(0).lt(1),
    }),
    averageDecay: z.number().min(0).lt(1),
    startFrom: z.string().min(1).optional(),
    evaluation: z
      .strictObject({
        every: count,
        decodeEvery: count.optional(),
        samples: byKind(z.int().min(0)),
        blockLengths: z.array(count).min(1).optional(),
        drawing: drawingSchema.optional(),
      })
      .optional(),
    stages: z.array(stage).min(1),
  })
  .refine(({ characterSlots, stages }) => characterSlots > 0 || stages.every(({ scope }) => scope === "full"), {
    path: ["characterSlots"],
    error: "expected more than 0 where a stage has the scope tower",
  });

const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : text === "" ? String(key) : `${text}.${String(key)}`),
    "",
  );

/** What is wrong with a recipe, a line for each field; empty where it is one. */
export function recipeProblems(json: unknown): string[] {
  const { error } = recipe.safeParse(json);
  return (error?.issues ?? []).map(
    ({ path, message }) => `\`${pathOf(path) || "recipe"}\` ${message.replace(/^Invalid (input|option): /, "")}`,
  );
}
