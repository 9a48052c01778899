/**
 * Formulas of a Markdown page as olmOCR-bench asks about them: all between dollars and `\(`, `\[` marks, and whether two rendered
 * formulas are the same, by their MathML or by the neighbours of each character on paper. Strict mode lets the truth be a part of the
 * answer and does not see roots; sound mode asks for the whole and for the same roots; neither compares fonts or sizes. A renderer is
 * handed in, since boxes need a browser; without one there is KaTeX's MathML. It refuses to know which formula a test is about.
 */
import type { MetricMode } from "./mode.ts";
import { PYTHON_SPACE, strip } from "./python-text.ts";

/** A formula as KaTeX renders it. */
export interface RenderedFormula {
  /** The `math` element as HTML. */
  readonly mathml: string;
  /** Innermost spans with their boxes `[text, x, y, width, height]` in pixels; null where nobody measured. */
  readonly spans: readonly (readonly [string, number, number, number, number])[] | null;
}

/** A renderer without a browser: KaTeX's MathML and no boxes, so that formulas are the same only if their MathML is. */
export async function mathmlRenderer(): Promise<(latex: string) => RenderedFormula | null> {
  const { renderToString, ParseError } = (await import("katex")).default;
  return (latex) => {
    try {
      const html = renderToString(latex, { displayMode: true, output: "mathml", strict: "ignore" });
      return { mathml: /<math[\s\S]*<\/math>/.exec(html)?.[0] ?? "", spans: null };
    } catch (error) {
      if (error instanceof ParseError) return null;
      throw error;
    }
  };
}

const DELIMITERS = [/\\\(([\s\S]+?)\\\)/g, /\\\[([\s\S]+?)\\\]/g];
const DOLLARS = [/\$\$([\s\S]+?)\$\$/g, /\$([\s\S]+?)\$/g];
/** Two centres at most this far apart, in pixels, stand in one line or column. */
const TOLERANCE = 5;

/** LaTeX of all formulas of a page, each kind of delimiter after the other. */
export function formulasOf(markdown: string, withDollars = true): string[] {
  const formulas: string[] = [];
  let rest = markdown;
  for (const pattern of withDollars ? [...DELIMITERS, ...DOLLARS] : DELIMITERS) {
    formulas.push(...Array.from(rest.matchAll(pattern), ([, formula]) => strip(formula)));
    rest = rest.replace(pattern, "");
  }
  return formulas;
}

/** True if two rendered formulas are the same (strict: if the answer has all of the truth). */
export function sameRendering(truth: RenderedFormula, answer: RenderedFormula, mode: MetricMode = "sound"): boolean {
  const inTruth = presentation(truth.mathml);
  const inAnswer = presentation(answer.mathml);
  if (mode === "strict" ? inAnswer.includes(inTruth) : inAnswer === inTruth) return true;
  if (!truth.spans || !answer.spans) return false;
  const truthMarks = marksOf(truth.spans);
  const answerMarks = marksOf(answer.spans);
  if (mode === "sound" && (truthMarks.length !== answerMarks.length || rootsIn(inTruth) !== rootsIn(inAnswer))) return false;
  return sameLayout(truthMarks, answerMarks);
}

const INVISIBLE = new RegExp(`&nbsp;|[${PYTHON_SPACE}\\u200a-\\u200d\\u2060\\ufeff]+`, "g");

/** MathML without the LaTeX it carries and without blanks. */
function presentation(mathml: string): string {
  const semantics = /<semantics[^>]*>([\s\S]*)<\/semantics>/.exec(mathml);
  const inner = semantics ? semantics[1].replace(/<annotation[\s>][\s\S]*?<\/annotation>/g, "") : mathml;
  return inner.replace(INVISIBLE, "");
}

function rootsIn(mathml: string): number {
  return mathml.split(/<m(?:sqrt|root)/).length - 1;
}

/** A character and its centre. */
interface Mark {
  readonly character: string;
  readonly x: number;
  readonly y: number;
}

function marksOf(spans: NonNullable<RenderedFormula["spans"]>): Mark[] {
  return spans.flatMap(([text, x, y, width, height]) => {
    const characters = [...text.replace(INVISIBLE, "")];
    return characters.map((character, index) => ({
      character,
      x: x + (width * index) / characters.length + width / characters.length / 2,
      y: y + height / 2,
    }));
  });
}

/** Nearest mark up, down, left and right of each mark, -1 for none. */
function neighboursOf(marks: readonly Mark[]): number[][] {
  return marks.map(({ x, y }) => {
    const nearest = (distance: (other: Mark) => number, isAside: (other: Mark) => boolean) => {
      let best = -1;
      let least = Number.POSITIVE_INFINITY;
      marks.forEach((other, index) => {
        const away = distance(other);
        if (away > 0 && away < least && isAside(other)) {
          best = index;
          least = away;
        }
      });
      return best;
    };
    const inColumn = (other: Mark) => Math.abs(other.x - x) <= TOLERANCE;
    const inLine = (other: Mark) => Math.abs(other.y - y) <= TOLERANCE;
    return [
      nearest((other) => y - other.y, inColumn),
      nearest((other) => other.y - y, inColumn),
      nearest((other) => x - other.x, inLine),
      nearest((other) => other.x - x, inLine),
    ];
  });
}

/** True if each mark of the truth can be given one of the answer with the same neighbours. */
function sameLayout(truth: readonly Mark[], answer: readonly Mark[]): boolean {
  const candidates = truth.map(({ character }) => answer.flatMap((mark, index) => (mark.character === character ? [index] : [])));
  if (candidates.some((list) => list.length === 0)) return false;
  const truthNeighbours = neighboursOf(truth);
  const answerNeighbours = neighboursOf(answer);
  const given = new Array<number>(truth.length).fill(-1);
  const used = new Set<number>();
  const fits = (index: number, candidate: number) =>
    truthNeighbours[index].every((neighbour, side) => {
      if (neighbour < 0) return true;
      const other = answerNeighbours[candidate][side];
      if (other < 0) return false;
      return given[neighbour] >= 0 ? given[neighbour] === other : answer[other].character === truth[neighbour].character;
    });
  const assign = (index: number): boolean => {
    if (index === truth.length) return true;
    for (const candidate of candidates[index]) {
      if (used.has(candidate) || !fits(index, candidate)) continue;
      given[index] = candidate;
      used.add(candidate);
      if (assign(index + 1)) return true;
      used.delete(candidate);
      given[index] = -1;
    }
    return false;
  };
  return assign(0);
}
