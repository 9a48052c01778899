/**
 * Extremes of SVG outlines: the exact box of a path, of lines and Bézier curves with absolute coordinates, under translations and
 * scales. It refuses to know rotations, strokes and what is drawn.
 */

/** A box, y downwards or upwards as the drawing has it. */
export interface Extent {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

/** `x ↦ scaleX * x + x0`, likewise y. */
export interface Placement {
  readonly scaleX: number;
  readonly scaleY: number;
  readonly x: number;
  readonly y: number;
}

/** The box of some points. */
export function bounds(xs: readonly number[], ys: readonly number[]): Extent {
  return { x0: Math.min(...xs), y0: Math.min(...ys), x1: Math.max(...xs), y1: Math.max(...ys) };
}

/** The box around two boxes. */
export function join(a: Extent | null, b: Extent): Extent {
  return a ? bounds([a.x0, a.x1, b.x0, b.x1], [a.y0, a.y1, b.y0, b.y1]) : b;
}

const TRANSFORM = /([a-z]+)\(([^)]*)\)/gi;

/**
 * The placement inside an element with an SVG `transform`, given the one around it (null for the outermost).
 * @throws Error for a transform other than translate and scale
 */
export function placement(outer: Placement | null, transform: string): Placement {
  let { scaleX, scaleY, x, y } = outer ?? { scaleX: 1, scaleY: 1, x: 0, y: 0 };
  for (const [, name, list] of transform.matchAll(TRANSFORM)) {
    const [first, second] = list
      .trim()
      .split(/[\s,]+/)
      .map(Number);
    if (name === "translate") {
      x += scaleX * first;
      y += scaleY * (second ?? 0);
    } else if (name === "scale") {
      scaleX *= first;
      scaleY *= second ?? first;
    } else throw new Error(`internal: the drawing has a transform ${name}`);
  }
  return { scaleX, scaleY, x, y };
}

/** A box where it lands. */
export function placed({ scaleX, scaleY, x, y }: Placement, extent: Extent): Extent {
  return bounds([scaleX * extent.x0 + x, scaleX * extent.x1 + x], [scaleY * extent.y0 + y, scaleY * extent.y1 + y]);
}

/** The part of a box inside another; null if there is none. */
export function common(a: Extent, b: Extent): Extent | null {
  const both = { x0: Math.max(a.x0, b.x0), y0: Math.max(a.y0, b.y0), x1: Math.min(a.x1, b.x1), y1: Math.min(a.y1, b.y1) };
  return both.x0 <= both.x1 && both.y0 <= both.y1 ? both : null;
}

const ARGUMENTS: Readonly<Record<string, number>> = { M: 2, L: 2, H: 1, V: 1, Q: 4, T: 2, C: 6, S: 4, Z: 0 };

/**
 * The box of a path.
 * @returns null for a path that draws nothing
 * @throws Error for a command with relative coordinates or an arc
 */
export function pathExtent(data: string): Extent | null {
  const xs: number[] = [];
  const ys: number[] = [];
  let at: readonly [number, number] = [0, 0];
  let start = at;
  let control: readonly [number, number] | null = null;
  let previous = "";
  const curve = (points: readonly (readonly [number, number])[]) => {
    xs.push(...curveExtremes([at, ...points].map(([x]) => x)));
    ys.push(...curveExtremes([at, ...points].map(([, y]) => y)));
  };
  const mirrored = (isSameKind: boolean): readonly [number, number] =>
    control && isSameKind ? [2 * at[0] - control[0], 2 * at[1] - control[1]] : at;
  for (const [, command, list] of data.matchAll(/([a-zA-Z])([^a-zA-Z]*)/g)) {
    const size = ARGUMENTS[command];
    if (size === undefined) throw new Error(`internal: the drawing has a path command ${command}`);
    const values = (list.match(/[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi) ?? []).map(Number);
    for (let k = 0; k === 0 || k + size <= values.length; k += Math.max(1, size)) {
      const v = values.slice(k, k + size);
      let end = at;
      let handle: readonly [number, number] | null = null;
      if (command === "Z") end = start;
      else if (command === "H") end = [v[0], at[1]];
      else if (command === "V") end = [at[0], v[0]];
      else end = [v[size - 2], v[size - 1]];
      const isMove = command === "M" && k === 0;
      if (isMove) start = end;
      else if (command === "Q" || command === "T") {
        handle = command === "Q" ? [v[0], v[1]] : mirrored(/[QT]/.test(previous));
        curve([handle, end]);
      } else if (command === "C" || command === "S") {
        const first = command === "C" ? ([v[0], v[1]] as const) : mirrored(/[CS]/.test(previous));
        handle = [v[size - 4], v[size - 3]];
        curve([first, handle, end]);
      } else curve([end]);
      at = end;
      control = handle;
      previous = command;
      if (size === 0) break;
    }
  }
  return xs.length > 0 ? bounds(xs, ys) : null;
}

/** Ends and inner extremes of one coordinate of a Bézier curve with 2, 3 or 4 points. */
function curveExtremes(points: readonly number[]): number[] {
  const [a, b, c, d] = points;
  const inside = (t: number) => t > 0 && t < 1;
  if (points.length === 3) {
    const t = (a - b) / (a - 2 * b + c);
    return inside(t) ? [a, c, (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t * t * c] : [a, c];
  }
  if (points.length < 4) return [...points];
  const p = d - 3 * c + 3 * b - a;
  const q = 2 * (c - 2 * b + a);
  const r = b - a;
  const root = Math.sqrt(q * q - 4 * p * r);
  const times = p === 0 ? [-r / q] : [(-q + root) / (2 * p), (-q - root) / (2 * p)];
  const at = (t: number) => (1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * b + 3 * t * t * (1 - t) * c + t ** 3 * d;
  return [a, d, ...times.filter(inside).map(at)];
}
