/**
 * Pictures to stand on a page: smooth photograph-like noise with shapes, gradients, drawings (made here as pixels), and
 * plots and diagrams (made as Typst drawings, with their labels). They only have to look like what is not text. It
 * refuses to know where they stand.
 */
import type { RgbImage } from "../image/rgb-image.ts";
import type { Random } from "./random.ts";
import { pseudoWord } from "./snippets.ts";
import { typstString } from "./typeset.ts";

type Colour = readonly [number, number, number];

function colour(random: Random, low = 0, high = 255): Colour {
  return [random.int(low, high), random.int(low, high), random.int(low, high)];
}

/** Value noise in octaves between two or three colours, with a few soft discs: a landscape to anyone who does not look twice. */
export function drawPhotograph(random: Random): (width: number, height: number) => RgbImage {
  const grey = random.chance(0.4);
  const tint = (low: number, high: number): Colour => {
    const drawn = colour(random, low, high);
    return grey ? [drawn[0], drawn[0], drawn[0]] : drawn;
  };
  const [dark, light] = [tint(0, 110), tint(120, 235)];
  const lattices = Array.from({ length: 4 }, () => Float32Array.from({ length: 33 * 33 }, () => random.next()));
  const discs = Array.from({ length: random.int(0, 6) }, () => ({
    x: random.next(),
    y: random.next(),
    r: random.range(0.03, 0.35),
    colour: tint(0, 240),
    soft: random.range(0.02, 0.3),
  }));
  const horizon = random.chance(0.5) ? random.range(0.3, 0.7) : undefined;
  return (width, height) => {
    const data = new Uint8Array(width * height * 3);
    for (let y = 0, i = 0; y < height; y++)
      for (let x = 0; x < width; x++, i += 3) {
        let value = 0;
        for (let octave = 0; octave < 4; octave++) {
          const cells = 4 << octave;
          const u = (x / width) * (cells - 0.01);
          const v = (y / height) * (cells - 0.01);
          const [u0, v0] = [Math.floor(u), Math.floor(v)];
          const at = v0 * 33 + u0;
          const lattice = lattices[octave];
          const top = lattice[at] + (u - u0) * (lattice[at + 1] - lattice[at]);
          const below = lattice[at + 33] + (u - u0) * (lattice[at + 34] - lattice[at + 33]);
          value += (top + (v - v0) * (below - top)) / 2 ** (octave + 1);
        }
        if (horizon !== undefined) value = y / height < horizon ? value * 0.4 + 0.6 : value * 0.7;
        for (let c = 0; c < 3; c++) {
          let shade = dark[c] + (light[c] - dark[c]) * value;
          for (const disc of discs) {
            const distance = Math.hypot((x / width - disc.x) * (width / height), y / height - disc.y) - disc.r;
            const cover = distance < 0 ? 1 : Math.max(0, 1 - distance / disc.soft);
            shade += cover * (disc.colour[c] - shade) * 0.85;
          }
          data[i + c] = shade;
        }
      }
    return { width, height, data };
  };
}

function plot(random: Random, width: number, height: number): string {
  const label = (text: string) => `text(size: 17pt, ${typstString(text)})`;
  const parts: string[] = [];
  const [x0, y0, w, h] = [60, 14, width - 80, height - 60];
  const put = (dx: number, dy: number, what: string) => parts.push(`#place(dx: ${dx.toFixed(1)}pt, dy: ${dy.toFixed(1)}pt, ${what})`);
  const framed = random.chance(0.5);
  put(x0, y0, `rect(width: ${w}pt, height: ${h}pt, stroke: ${framed ? "1.5pt" : "none"})`);
  if (!framed) {
    put(x0, y0 + h, `line(length: ${w}pt, stroke: 1.5pt)`);
    put(x0, y0, `line(length: ${h}pt, angle: 90deg, stroke: 1.5pt)`);
  }
  const ticks = random.int(3, 6);
  for (let i = 0; i <= ticks; i++) {
    const [tx, ty] = [x0 + (w * i) / ticks, y0 + h - (h * i) / ticks];
    if (random.chance(0.5)) put(x0, ty, `line(length: ${w}pt, stroke: 0.7pt + luma(200))`);
    put(tx - 12, y0 + h + 8, label(String(i * random.pick([1, 1, 2, 10]))));
    put(8, ty - 9, label((i * 0.2).toFixed(1)));
  }
  const series = random.int(1, 3);
  const bars = random.chance(0.35);
  for (let s = 0; s < series; s++) {
    const paint = random.pick(["black", "blue", "red", "rgb(30,130,60)", "rgb(220,130,0)", "luma(110)"]);
    const count = random.int(4, 14);
    let level = random.range(0.2, 0.8);
    const points = Array.from({ length: count }, (_, i) => {
      level = Math.min(0.97, Math.max(0.03, level + random.range(-0.18, 0.2)));
      return [x0 + (w * (i + 0.5)) / count, y0 + h * (1 - level)] as const;
    });
    if (bars) {
      const barWidth = ((w / count) * 0.7) / series;
      for (const [px, py] of points)
        put(
          px + (s - series / 2) * barWidth,
          py,
          `rect(width: ${barWidth.toFixed(1)}pt, height: ${(y0 + h - py).toFixed(1)}pt, fill: ${paint})`,
        );
    } else if (random.chance(0.3)) for (const [px, py] of points) put(px - 4, py - 4, `circle(radius: 4pt, fill: ${paint})`);
    else
      put(
        0,
        0,
        `curve(stroke: 2pt + ${paint}, curve.move((${points[0][0].toFixed(1)}pt, ${points[0][1].toFixed(1)}pt)), ${points
          .slice(1)
          .map(([px, py]) => `curve.line((${px.toFixed(1)}pt, ${py.toFixed(1)}pt))`)
          .join(", ")})`,
      );
  }
  if (random.chance(0.5)) put(x0 + w / 2 - 30, y0 + h + 28, label(pseudoWord(random)));
  return parts.join("\n");
}

function diagram(random: Random, width: number, height: number): string {
  const parts: string[] = [];
  const columns = random.int(2, 4);
  const rows = random.int(1, 3);
  const [cw, ch] = [width / columns, height / rows];
  const round = random.chance(0.5);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const [x, y] = [column * cw + cw * 0.12, row * ch + ch * 0.2];
      const fill = random.pick(["white", "white", "luma(235)", "rgb(220,230,250)", "rgb(250,235,215)"]);
      parts.push(
        `#place(dx: ${x.toFixed(1)}pt, dy: ${y.toFixed(1)}pt, rect(width: ${(cw * 0.7).toFixed(1)}pt, height: ${(ch * 0.55).toFixed(1)}pt, radius: ${round ? 8 : 0}pt, fill: ${fill}, stroke: 1.5pt, ` +
          `align(center + horizon, text(size: 17pt, hyphenate: true, ${typstString(pseudoWord(random))}))))`,
      );
      if (column + 1 < columns)
        parts.push(
          `#place(dx: ${(x + cw * 0.7).toFixed(1)}pt, dy: ${(y + ch * 0.27).toFixed(1)}pt, line(length: ${(cw * 0.3).toFixed(1)}pt, stroke: 1.5pt))`,
        );
      if (row + 1 < rows && random.chance(0.6))
        parts.push(
          `#place(dx: ${(x + cw * 0.35).toFixed(1)}pt, dy: ${(y + ch * 0.55).toFixed(1)}pt, line(length: ${(ch * 0.45).toFixed(1)}pt, angle: 90deg, stroke: 1.5pt))`,
        );
    }
  return parts.join("\n");
}

/** A plot or a diagram of the given size, as Typst content. */
export function drawChart(random: Random, width: number, height: number): string {
  const content = random.chance(0.6) ? plot(random, width, height) : diagram(random, width, height);
  return `#block(width: ${width.toFixed(1)}pt, height: ${height.toFixed(1)}pt)[\n${content}\n]`;
}
