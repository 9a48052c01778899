/**
 * The size a picture is given before it is cut into patches: Qwen2-VL's smart resize, which rounds both edges to whole merged patches and keeps
 * the pixel count between two bounds. Pure arithmetic, exact against the reference including its errors; knows nothing of pixels.
 */

/** Height and width in pixels. */
export interface Size {
  height: number;
  width: number;
}

/** Bounds of smart resize: `factor` = patch edge times merge edge (28 for the published model). */
export interface SmartResizeRule {
  factor: number;
  minPixels: number;
  maxPixels: number;
}

const MAX_ASPECT_RATIO = 200;

/** Rounds half to even, as the reference does. */
export function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}

/**
 * Target size for a picture of `height` x `width`: multiples of `factor`, about the same aspect ratio, between `minPixels` and `maxPixels`.
 * Throws `RangeError` when an edge is below `factor` or the aspect ratio is above 200; the crop rules keep regions clear of both.
 */
export function smartResize(height: number, width: number, rule: SmartResizeRule): Size {
  const { factor, minPixels, maxPixels } = rule;
  if (!(height >= factor && width >= factor))
    throw new RangeError(`\`height\` and \`width\` expected at least ${factor} (one merged patch), got height ${height}, width ${width}`);
  const ratio = Math.max(height, width) / Math.min(height, width);
  if (ratio > MAX_ASPECT_RATIO)
    throw new RangeError(`\`height\` and \`width\` expected an aspect ratio of at most ${MAX_ASPECT_RATIO}, got ${ratio}`);
  const rounded = { height: roundHalfEven(height / factor) * factor, width: roundHalfEven(width / factor) * factor };
  const pixels = rounded.height * rounded.width;
  if (pixels > maxPixels) {
    const shrink = Math.sqrt((height * width) / maxPixels);
    return { height: Math.floor(height / shrink / factor) * factor, width: Math.floor(width / shrink / factor) * factor };
  }
  if (pixels < minPixels) {
    const grow = Math.sqrt(minPixels / (height * width));
    return { height: Math.ceil((height * grow) / factor) * factor, width: Math.ceil((width * grow) / factor) * factor };
  }
  return rounded;
}
