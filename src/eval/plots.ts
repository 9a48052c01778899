/**
 * Plots as SVG text: lines over a number, bars by name, points. Colours follow the reader's light or dark scheme through `currentColor`;
 * nothing is fetched and nothing runs. Refuses to know what is plotted.
 */
import { escapeHtml } from "../document/table-html.ts";

export interface Axis {
  readonly label: string;
  /** Ends of the axis; those of the data, widened to round numbers, if absent. */
  readonly range?: readonly [number, number];
  /** Powers of two at equal distances. */
  readonly doubling?: boolean;
}

export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Text beside each point. */
  readonly labels?: readonly string[];
}

export interface PlotOptions {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  /** Draw points only. */
  readonly scattered?: boolean;
}

const [WIDTH, HEIGHT] = [640, 340];
const MARGIN = { left: 64, right: 20, top: 34, bottom: 66 };
const COLOURS = ["#2563eb", "#d97706", "#059669", "#be185d", "#7c3aed", "#64748b"];

const spelled = (value: number): string =>
  Math.abs(value) >= 1000 || Number.isInteger(value) ? value.toFixed(0) : String(Number(value.toPrecision(3)));
const at = (value: number): string => value.toFixed(1);

/** Round steps of 1, 2 or 5 times a power of ten, four to nine of them. */
function ticksOf([low, high]: readonly [number, number]): number[] {
  const raw = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
}

interface Scale {
  readonly place: (value: number) => number;
  readonly ticks: readonly number[];
}

function scaleOf(axis: Axis, values: readonly number[], from: number, to: number): Scale {
  const known = values.filter(Number.isFinite);
  const [least, most] = known.length > 0 ? [Math.min(...known), Math.max(...known)] : [0, 1];
  if (axis.doubling) {
    const [low, high] = [Math.floor(Math.log2(least)), Math.ceil(Math.log2(most))];
    const span = high - low || 1;
    const ticks = Array.from({ length: span + 1 }, (_, i) => 2 ** (low + i));
    return { place: (value) => from + ((Math.log2(value) - low) / span) * (to - from), ticks };
  }
  const ends = axis.range ?? (least === most ? ([least - 1, most + 1] as const) : ([least, most] as const));
  const drawn = ticksOf(ends);
  const step = drawn.length > 1 ? drawn[1] - drawn[0] : 1;
  const [low, high] = axis.range ?? [Math.floor(ends[0] / step) * step, Math.ceil(ends[1] / step) * step];
  return { place: (value) => from + ((value - low) / (high - low)) * (to - from), ticks: ticksOf([low, high]) };
}

function frame(title: string, body: string): string {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" font-family="sans-serif" font-size="11" fill="currentColor">` +
    `<title>${escapeHtml(title)}</title><text x="${MARGIN.left}" y="18" font-size="13" font-weight="bold">${escapeHtml(title)}</text>${body}</svg>`
  );
}

/** Lines through the points of each series, in their order, or the points alone. */
export function linePlot(series: readonly Series[], { title, x, y, scattered = false }: PlotOptions): string {
  const points = series.flatMap((entry) => entry.points);
  const [right, bottom] = [WIDTH - MARGIN.right, HEIGHT - MARGIN.bottom];
  const across = scaleOf(
    x,
    points.map(([value]) => value),
    MARGIN.left,
    right,
  );
  const up = scaleOf(
    y,
    points.map(([, value]) => value),
    bottom,
    MARGIN.top,
  );
  const parts: string[] = [];
  for (const tick of across.ticks)
    parts.push(
      `<line x1="${at(across.place(tick))}" x2="${at(across.place(tick))}" y1="${MARGIN.top}" y2="${bottom}" stroke="currentColor" opacity=".12"/>`,
      `<text x="${at(across.place(tick))}" y="${bottom + 15}" text-anchor="middle">${spelled(tick)}</text>`,
    );
  for (const tick of up.ticks)
    parts.push(
      `<line x1="${MARGIN.left}" x2="${right}" y1="${at(up.place(tick))}" y2="${at(up.place(tick))}" stroke="currentColor" opacity=".12"/>`,
      `<text x="${MARGIN.left - 6}" y="${at(up.place(tick) + 4)}" text-anchor="end">${spelled(tick)}</text>`,
    );
  parts.push(
    `<text x="${(MARGIN.left + right) / 2}" y="${bottom + 32}" text-anchor="middle">${escapeHtml(x.label)}</text>`,
    `<text x="14" y="${(MARGIN.top + bottom) / 2}" text-anchor="middle" transform="rotate(-90 14 ${(MARGIN.top + bottom) / 2})">${escapeHtml(y.label)}</text>`,
  );
  let legend = MARGIN.left;
  series.forEach((entry, i) => {
    const colour = COLOURS[i % COLOURS.length];
    const places = entry.points
      .filter(([px, py]) => Number.isFinite(px) && Number.isFinite(py))
      .map(([px, py]) => [across.place(px), up.place(py)] as const);
    if (!scattered && places.length > 1)
      parts.push(
        `<polyline points="${places.map(([px, py]) => `${at(px)},${at(py)}`).join(" ")}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      );
    places.forEach(([px, py], j) => {
      parts.push(`<circle cx="${at(px)}" cy="${at(py)}" r="3" fill="${colour}" opacity="${scattered ? 0.55 : 1}"/>`);
      if (entry.labels) parts.push(`<text x="${at(px + 5)}" y="${at(py - 5)}" font-size="9">${escapeHtml(entry.labels[j])}</text>`);
    });
    if (series.length > 1) {
      parts.push(
        `<rect x="${legend}" y="${HEIGHT - 22}" width="10" height="10" fill="${colour}"/>`,
        `<text x="${legend + 14}" y="${HEIGHT - 13}">${escapeHtml(entry.name)}</text>`,
      );
      legend += 30 + 6.2 * entry.name.length;
    }
  });
  return frame(title, parts.join(""));
}

/** How often values fall into each of `bins` equal parts of 0 to 1. */
export function histogram(values: readonly number[], { title, label, bins = 20 }: { title: string; label: string; bins?: number }): string {
  const counts = Array<number>(bins).fill(0);
  for (const value of values) counts[Math.min(bins - 1, Math.max(0, Math.floor(value * bins)))]++;
  const [right, bottom] = [WIDTH - MARGIN.right, HEIGHT - MARGIN.bottom];
  const up = scaleOf({ label: "", range: [0, Math.max(1, ...counts)] }, [], bottom, MARGIN.top);
  const width = (right - MARGIN.left) / bins;
  const bars = counts.map((count, i) => {
    const top = up.place(count);
    return `<rect x="${at(MARGIN.left + i * width + 1)}" y="${at(top)}" width="${at(width - 2)}" height="${at(bottom - top)}" fill="${COLOURS[0]}"><title>${count}</title></rect>`;
  });
  const across = [0, 0.25, 0.5, 0.75, 1].map(
    (value) => `<text x="${at(MARGIN.left + value * (right - MARGIN.left))}" y="${bottom + 15}" text-anchor="middle">${value}</text>`,
  );
  const side = up.ticks
    .filter(Number.isInteger)
    .map((tick) => `<text x="${MARGIN.left - 6}" y="${at(up.place(tick) + 4)}" text-anchor="end">${tick}</text>`);
  const name = `<text x="${(MARGIN.left + right) / 2}" y="${bottom + 32}" text-anchor="middle">${escapeHtml(label)}</text>`;
  return frame(title, [...bars, ...across, ...side, name].join(""));
}
