/**
 * Cuts a column of print into its lines: runs of inked rows, small ones (dots, accents) joined to their neighbour, runs that hold several
 * touching lines cut where the ink is least. For weights that read a line at a time; a region is otherwise read whole.
 */
import { type Band, inkProfile, withoutSteadyInk } from "./ink.ts";
import type { RgbImage } from "./rgb-image.ts";

/** Runs lower than this share of the pitch are no lines of their own. */
const LEAST_LINE = 0.35;
/** Runs higher than this many pitches hold more than one line. */
const MOST_LINE = 1.6;
/** A touching line is cut within this share of a pitch of where it should end. */
const CUT_REACH = 0.35;

function inkedRuns(rows: Uint32Array): Band[] {
  const runs: Band[] = [];
  for (let y = 0; y < rows.length; y++) {
    if (rows[y] === 0) continue;
    const top = y;
    while (y < rows.length && rows[y] > 0) y++;
    runs.push({ top, bottom: y });
  }
  return runs;
}

function withoutFragments(runs: readonly Band[], pitch: number): Band[] {
  const lines: Band[] = [];
  let above = null as Band | null; // a fragment that waits for the line below it
  for (const [i, run] of runs.entries()) {
    const { top, bottom }: Band = above ? { top: above.top, bottom: run.bottom } : run;
    above = null;
    if (run.bottom - run.top >= LEAST_LINE * pitch) {
      lines.push({ top, bottom });
      continue;
    }
    const last = lines.at(-1);
    const toLast = last ? top - last.bottom : Number.POSITIVE_INFINITY;
    const toNext = i + 1 < runs.length ? runs[i + 1].top - bottom : Number.POSITIVE_INFINITY;
    if (Math.min(toLast, toNext) > pitch / 2) lines.push({ top, bottom });
    else if (toLast < toNext && last) lines[lines.length - 1] = { top: last.top, bottom };
    else above = { top, bottom };
  }
  return lines;
}

function parted(run: Band, rows: Uint32Array, pitch: number): Band[] {
  const count = Math.round((run.bottom - run.top) / pitch);
  if (run.bottom - run.top <= MOST_LINE * pitch || count < 2) return [run];
  const each = (run.bottom - run.top) / count;
  const cuts = Array.from({ length: count - 1 }, (_, i) => {
    const target = Math.round(run.top + each * (i + 1));
    const reach = Math.round(CUT_REACH * pitch);
    let best = target;
    for (let y = target - reach; y <= target + reach; y++) {
      if (rows[y] < rows[best] || (rows[y] === rows[best] && Math.abs(y - target) < Math.abs(best - target))) best = y;
    }
    return best;
  });
  return [...cuts, run.bottom].map((bottom, i) => ({ top: i === 0 ? run.top : cuts[i - 1], bottom }));
}

/** The lines of a picture by the ink of its rows, as their ink stands; fragments are judged by the highest line there is. */
export function inkedLines(rows: Uint32Array): Band[] {
  const runs = inkedRuns(rows);
  const heights = runs.map(({ top, bottom }) => bottom - top).sort((a, b) => a - b);
  return withoutFragments(runs, heights[heights.length >> 1] ?? 1);
}

/**
 * The lines of `image`, top to bottom, as bands that together cover it; `pitch` is the distance of its baselines in pixels
 * (`estimateLineHeight`). One band for a picture without ink. Throws `RangeError` for a pitch that is not positive.
 */
export function textLines(image: RgbImage, pitch: number): Band[] {
  if (!(pitch > 0)) throw new RangeError(`\`pitch\` expected a positive number, got ${pitch}`);
  const rows = withoutSteadyInk(inkProfile(image));
  const lines = withoutFragments(inkedRuns(rows), pitch).flatMap((run) => parted(run, rows, pitch));
  if (lines.length === 0) return [{ top: 0, bottom: image.height }];
  const edges = lines.map(({ bottom }, i) => (i + 1 < lines.length ? (bottom + lines[i + 1].top) >> 1 : image.height));
  return edges.map((bottom, i) => ({ top: i === 0 ? 0 : edges[i - 1], bottom }));
}
