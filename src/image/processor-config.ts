/**
 * The settings of `preprocessor_config.json` that decide what the vision tower sees, in this system's words. The reading is strict: a setting
 * that would change the pixels in a way this code does not follow is refused, not passed over. Reads no file.
 */
import { MineruError } from "../error.ts";

/** How a picture becomes patches. */
export interface ImageProcessorConfig {
  /** Edge of a square patch, in pixels. */
  readonly patchSize: number;
  /** Patches per edge of a merged patch; one merged patch is one image token. */
  readonly mergeSize: number;
  /** Frames a patch spans in time; a still picture is repeated. */
  readonly temporalPatchSize: number;
  /** Per channel, subtracted after scaling to 0..1. */
  readonly mean: readonly [number, number, number];
  /** Per channel, divided by. */
  readonly std: readonly [number, number, number];
  /** Factor from byte to unit scale. */
  readonly rescaleFactor: number;
  readonly minPixels: number;
  readonly maxPixels: number;
}

const DEFAULT_MIN_PIXELS = 56 * 56;
const DEFAULT_MAX_PIXELS = 28 * 28 * 1280;
const BICUBIC = 3;

/**
 * Reads a parsed `preprocessor_config.json`. Bounds come from `min_pixels`/`max_pixels`, else `size.shortest_edge`/`size.longest_edge`, else the
 * reference defaults. Throws `MineruError` `checkpoint-invalid` naming the key.
 */
export function parseProcessorConfig(json: unknown): ImageProcessorConfig {
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw invalid("the file", "an object", json);
  const record = json as Record<string, unknown>;
  for (const key of ["do_resize", "do_rescale", "do_normalize", "do_convert_rgb"])
    if (record[key] !== undefined && record[key] !== true) throw invalid(key, "true", record[key]);
  if (record.resample !== undefined && record.resample !== BICUBIC) throw invalid("resample", `${BICUBIC} (bicubic)`, record.resample);
  const size = (typeof record.size === "object" && record.size !== null ? record.size : {}) as Record<string, unknown>;
  const minPixels = positive("min_pixels", record.min_pixels ?? size.shortest_edge ?? DEFAULT_MIN_PIXELS, true);
  const maxPixels = positive("max_pixels", record.max_pixels ?? size.longest_edge ?? DEFAULT_MAX_PIXELS, true);
  if (minPixels > maxPixels) throw invalid("min_pixels", `at most max_pixels (${maxPixels})`, minPixels);
  return {
    patchSize: positive("patch_size", record.patch_size, true),
    mergeSize: positive("merge_size", record.merge_size, true),
    temporalPatchSize: positive("temporal_patch_size", record.temporal_patch_size, true),
    mean: triple("image_mean", record.image_mean, false),
    std: triple("image_std", record.image_std, true),
    rescaleFactor: positive("rescale_factor", record.rescale_factor ?? 1 / 255, false),
    minPixels,
    maxPixels,
  };
}

function invalid(key: string, expected: string, got: unknown): MineruError {
  return new MineruError(
    "checkpoint-invalid",
    `preprocessor_config.json: ${key} expected ${expected}, got ${JSON.stringify(got)}. Take the file from the same checkpoint as the weights.`,
  );
}

function positive(key: string, value: unknown, whole: boolean): number {
  if (typeof value !== "number" || !(value > 0) || !Number.isFinite(value) || (whole && !Number.isInteger(value)))
    throw invalid(key, whole ? "a positive integer" : "a positive number", value);
  return value;
}

function triple(key: string, value: unknown, nonZero: boolean): readonly [number, number, number] {
  const fits = Array.isArray(value) && value.length === 3 && value.every((v) => typeof v === "number" && Number.isFinite(v));
  if (!fits || (nonZero && value.some((v) => v <= 0))) throw invalid(key, nonZero ? "three positive numbers" : "three numbers", value);
  return [value[0], value[1], value[2]];
}
