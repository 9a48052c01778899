/**
 * A line chart over steps as inline SVG: series with their names at their ends, stage boundaries, round ticks, values on hover. Many points
 * are drawn as means of equal spans. It refuses to know what is measured.
 */

export interface Series {
  readonly name: string;
  /** Step and value, steps ascending. */
  readonly points: readonly (readonly [number, number])[];
  /** Draws every point, for series that are sparse. */
  readonly marks?: boolean;
}

export interface Boundary {
  readonly name: string;
  readonly from: number;
}

export interface ChartOptions {
  readonly title: string;
  readonly series: readonly Series[];
  readonly boundaries?: readonly Boundary[];
  /** The vertical axis begins at 0. */
  readonly fromZero?: boolean;
}

const [WIDTH, HEIGHT] = [560, 250];
const AREA = { left: 52, right: WIDTH - 96, top: 30, bottom: HEIGHT - 26 };
const MOST_POINTS = 220;
/** In usual gaps. */
const LONG_GAP = 8;

export const escapeText = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** 1, 2 or 5 times a power of ten, so that some `count` of them make up `span`. */
function tickStep(span: number, count: number): number {
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
}

function ticks(low: number, high: number, count: number): number[] {
  const step = tickStep(high - low, count);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
}

/** Means over at most `MOST_POINTS` equal spans of steps. */
function thinned(points: Series["points"]): Series["points"] {
  if (points.length <= MOST_POINTS) return points;
  const first = points[0][0];
  const span = (points[points.length - 1][0] - first + 1) / MOST_POINTS;
  const sums = new Map<number, [number, number, number]>();
  for (const [step, value] of points) {
    const place = Math.floor((step - first) / span);
    const [steps, values, count] = sums.get(place) ?? [0, 0, 0];
    sums.set(place, [steps + step, values + value, count + 1]);
  }
  return [...sums.values()].map(([steps, values, count]) => [steps / count, values / count] as const);
}

export const readable = (value: number): string =>
  value === 0 ? "0" : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : Number(value.toPrecision(3)).toString();

/** Moves labels apart that would lie on each other; `wanted` are their heights. */
function spread(wanted: readonly number[], gap: number): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  const placed = [...wanted];
  order.forEach((item, rank) => {
    if (rank > 0) placed[item] = Math.max(placed[item], placed[order[rank - 1]] + gap);
  });
  const over = Math.max(0, Math.max(...placed) - AREA.bottom);
  return placed.map((y) => y - over);
}

/** Parts a series where it has no points for much longer than usual: what was not measured is not drawn. */
function unbroken({ points, marks }: Series): Series["points"][] {
  const gaps = points.slice(1).map(([step], i) => step - points[i][0]);
  const usual = [...gaps].sort((a, b) => a - b)[gaps.length >> 1];
  const runs: (readonly [number, number])[][] = [];
  points.forEach((point, i) => {
    if (i === 0 || (!marks && gaps[i - 1] > LONG_GAP * usual)) runs.push([]);
    runs[runs.length - 1].push(point);
  });
  return runs;
}

/** SVG of one chart; the empty string where no series has a point. */
export function lineChart({ title, series, boundaries = [], fromZero = false }: ChartOptions): string {
  const drawn = series.map((one) => ({ ...one, points: thinned(one.points.filter(([, value]) => Number.isFinite(value))) }));
  const shown = drawn.filter(({ points }) => points.length > 0);
  if (shown.length === 0) return "";
  const all = shown.flatMap(({ points }) => points);
  const steps = all.map(([step]) => step);
  const values = all.map(([, value]) => value);
  const [left, right] = [Math.min(...steps), Math.max(...steps, Math.min(...steps) + 1)];
  const low = fromZero ? Math.min(0, ...values) : Math.min(...values);
  const high = Math.max(...values) > low ? Math.max(...values) : low + 1;
  const pad = (high - low) * 0.05;
  const [bottom, top] = [fromZero && low === 0 ? 0 : low - pad, high + pad];
  const x = (step: number) => AREA.left + ((step - left) / (right - left)) * (AREA.right - AREA.left);
  const y = (value: number) => AREA.bottom - ((value - bottom) / (top - bottom)) * (AREA.bottom - AREA.top);
  const at = (point: readonly [number, number]) => `${x(point[0]).toFixed(1)},${y(point[1]).toFixed(1)}`;

  const parts = [`<text class="title" x="${AREA.left}" y="16">${escapeText(title)}</text>`];
  for (const tick of ticks(bottom, top, 4)) {
    parts.push(`<line class="grid" x1="${AREA.left}" x2="${AREA.right}" y1="${y(tick).toFixed(1)}" y2="${y(tick).toFixed(1)}"/>`);
    parts.push(`<text class="tick" text-anchor="end" x="${AREA.left - 6}" y="${(y(tick) + 3.5).toFixed(1)}">${readable(tick)}</text>`);
  }
  for (const tick of ticks(left, right, 5)) {
    parts.push(`<text class="tick" text-anchor="middle" x="${x(tick).toFixed(1)}" y="${AREA.bottom + 16}">${readable(tick)}</text>`);
  }
  for (const { name, from } of boundaries) {
    if (from <= left || from >= right) continue;
    const place = x(from).toFixed(1);
    parts.push(
      `<line class="stage" x1="${place}" x2="${place}" y1="${AREA.top}" y2="${AREA.bottom}"><title>${escapeText(name)}</title></line>`,
    );
  }
  const heights = spread(
    shown.map(({ points }) => y(points[points.length - 1][1])),
    12,
  );
  shown.forEach((one, i) => {
    const { name, points, marks } = one;
    const [, last] = points[points.length - 1];
    parts.push(`<g class="series s${i % 8}"><title>${escapeText(name)}: ${readable(last)} at the end</title>`);
    for (const run of unbroken(one)) parts.push(`<polyline points="${run.map(at).join(" ")}"/>`);
    if (marks) for (const point of points) parts.push(`<circle r="2" cx="${x(point[0]).toFixed(1)}" cy="${y(point[1]).toFixed(1)}"/>`);
    parts.push(`<text x="${AREA.right + 6}" y="${(heights[i] + 3.5).toFixed(1)}">${escapeText(name)} ${readable(last)}</text></g>`);
  });
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeText(title)}">${parts.join("")}</svg>`;
}
