/**
 * Picture to patches, as the vision tower takes them: smart resize, bicubic resampling, normalisation in float32 and the patch order of the
 * reference processor (merged groups row by row; inside a group its patches row by row; inside a patch channel, time, y, x).
 * Exact against the reference. Knows nothing of tokens or prompts beyond the grid it returns.
 */
import type { ImageProcessorConfig } from "./processor-config.ts";
import { resizeBicubic } from "./resample.ts";
import type { RgbImage } from "./rgb-image.ts";
import { type Size, smartResize } from "./smart-resize.ts";

/** What the vision tower is fed for one picture. */
export interface Patches {
  /** `[patches, channels * temporalPatchSize * patchSize * patchSize]`, 1176 values a patch for the published model. */
  readonly pixelValues: Float32Array;
  /** Time, rows and columns of patches; image tokens = product / mergeSize^2. */
  readonly grid: readonly [time: 1, rows: number, columns: number];
}

/** The size `patchify` resizes a `height` x `width` picture to. Errors as `smartResize`. */
export function processedSize(height: number, width: number, config: ImageProcessorConfig): Size {
  const { minPixels, maxPixels } = config;
  return smartResize(height, width, { factor: config.patchSize * config.mergeSize, minPixels, maxPixels });
}

/** Number of image tokens a `height` x `width` picture takes in the prompt. Errors as `smartResize`. */
export function imageTokenCount(height: number, width: number, config: ImageProcessorConfig): number {
  const size = processedSize(height, width, config);
  const factor = config.patchSize * config.mergeSize;
  return (size.height / factor) * (size.width / factor);
}

/** The float32 value of every byte: `[3, 256]`, channel by channel. */
export function normalisationTable(config: ImageProcessorConfig): Float32Array {
  const table = new Float32Array(3 * 256);
  for (let channel = 0; channel < 3; channel++) {
    const mean = Math.fround(config.mean[channel]);
    const std = Math.fround(config.std[channel]);
    for (let byte = 0; byte < 256; byte++)
      table[channel * 256 + byte] = Math.fround(Math.fround(Math.fround(byte * config.rescaleFactor) - mean) / std);
  }
  return table;
}

/** Resizes, normalises and cuts `image` into patches. Throws `RangeError` for pictures smart resize refuses (see `resizeByNeed`). */
export function patchify(image: RgbImage, config: ImageProcessorConfig): Patches {
  const { patchSize, mergeSize, temporalPatchSize } = config;
  const size = processedSize(image.height, image.width, config);
  const { data, width, height } = resizeBicubic(image, size.width, size.height);
  const rows = height / patchSize;
  const columns = width / patchSize;
  const table = normalisationTable(config);
  const patchPixels = patchSize * patchSize;
  const pixelValues = new Float32Array(rows * columns * 3 * temporalPatchSize * patchPixels);
  let to = 0;
  for (let groupRow = 0; groupRow < rows; groupRow += mergeSize)
    for (let groupColumn = 0; groupColumn < columns; groupColumn += mergeSize)
      for (let row = groupRow; row < groupRow + mergeSize; row++)
        for (let column = groupColumn; column < groupColumn + mergeSize; column++)
          for (let channel = 0; channel < 3; channel++) {
            const frame = to;
            const values = table.subarray(channel * 256, channel * 256 + 256);
            for (let y = 0; y < patchSize; y++) {
              let from = ((row * patchSize + y) * width + column * patchSize) * 3 + channel;
              for (let x = 0; x < patchSize; x++, from += 3) pixelValues[to++] = values[data[from]];
            }
            for (let time = 1; time < temporalPatchSize; time++, to += patchPixels) pixelValues.copyWithin(to, frame, frame + patchPixels);
          }
  return { pixelValues, grid: [1, rows, columns] };
}
