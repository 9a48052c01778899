/**
 * Random formulas, each written twice: as LaTeX (the truth) and as Typst mathematics (the print). A small grammar grows
 * both at once, so they cannot disagree: letters, numbers, operators, scripts, fractions, roots, sums and integrals,
 * functions, brackets, accents, alphabets, matrices, cases and aligned lines. Brackets and commas are spelled as
 * symbols in the print, since bare ones mean something to the engine. It refuses to know where a formula stands.
 */
import type { Random } from "./random.ts";

export interface Formula {
  readonly latex: string;
  readonly typst: string;
}

type Pair = readonly [latex: string, typst: string];

const LATIN = "abcdefghkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ";
const GREEK: readonly Pair[] = [
  ..."alpha beta gamma delta lambda mu nu pi rho sigma tau omega theta eta xi psi kappa zeta Gamma Delta Sigma Omega Phi Psi Lambda Theta"
    .split(" ")
    .map((name): Pair => [`\\${name}`, name]),
  ["\\epsilon", "epsilon.alt"],
  ["\\varepsilon", "epsilon"],
  ["\\phi", "phi.alt"],
  ["\\varphi", "phi"],
];
const BINARY: readonly Pair[] = [
  ...new Array<Pair>(6).fill(["+", "+"]),
  ...new Array<Pair>(6).fill(["-", "-"]),
  ["\\cdot", "dot.op"],
  ["\\cdot", "dot.op"],
  ["\\cdot", "dot.op"],
  ["\\times", "times"],
  ["\\pm", "plus.minus"],
  ["\\otimes", "⊗"],
  ["\\cup", "∪"],
  ["\\cap", "∩"],
  ["\\circ", "∘"],
];
const RELATIONS: readonly Pair[] = [
  ["=", "="],
  ["=", "="],
  ["=", "="],
  ["\\leq", "<="],
  ["\\geq", ">="],
  ["<", "<"],
  [">", ">"],
  ["\\approx", "approx"],
  ["\\neq", "≠"],
  ["\\equiv", "equiv"],
  ["\\in", "in"],
  ["\\sim", "∼"],
  ["\\to", "->"],
  ["\\propto", "∝"],
  ["\\subset", "⊂"],
  ["\\Rightarrow", "=>"],
];
const FUNCTIONS = ["sin", "cos", "tan", "log", "ln", "exp", "max", "min", "det"];
const ACCENTS: readonly Pair[] = [
  ["\\hat", "hat"],
  ["\\tilde", "tilde"],
  ["\\bar", "macron"],
  ["\\vec", "arrow"],
  ["\\dot", "dot"],
  ["\\overline", "overline"],
];
const ALPHABETS: readonly Pair[] = [
  ["\\mathcal", "cal"],
  ["\\mathbb", "bb"],
  ["\\boldsymbol", "bold"],
  ["\\mathrm", "upright"],
];
const BRACKETS: readonly { readonly latex: Pair; readonly typst: Pair }[] = [
  { latex: ["(", ")"], typst: ["paren.l", "paren.r"] },
  { latex: ["(", ")"], typst: ["paren.l", "paren.r"] },
  { latex: ["[", "]"], typst: ["bracket.l", "bracket.r"] },
  { latex: ["\\{", "\\}"], typst: ["brace.l", "brace.r"] },
  { latex: ["|", "|"], typst: ["bar.v", "bar.v"] },
  { latex: ["\\|", "\\|"], typst: ["bar.v.double", "bar.v.double"] },
];
const SMALL_WORDS = ["if", "for all", "where", "and", "otherwise", "subject to", "with"];

/** Joins LaTeX tokens: a space only where a command would swallow the letter after it. */
export function joinLatex(...parts: readonly string[]): string {
  let text = "";
  for (const part of parts) {
    if (part === "") continue;
    text += /\\[A-Za-z]+$/.test(text) && /^[A-Za-z]/.test(part) ? ` ${part}` : part;
  }
  return text;
}

function join(...parts: readonly Formula[]): Formula {
  return { latex: joinLatex(...parts.map((part) => part.latex)), typst: parts.map((part) => part.typst).join(" ") };
}

function of(pair: Pair): Formula {
  return { latex: pair[0], typst: pair[1] };
}

const COMMA: Formula = { latex: ",", typst: "comma" };

function letter(random: Random): Formula {
  if (random.chance(0.25)) return of(random.pick(GREEK));
  const char = LATIN[random.int(0, LATIN.length - 1)];
  return { latex: char, typst: char };
}

function number(random: Random): Formula {
  const value = random.chance(0.75)
    ? String(random.int(0, 12))
    : random.chance(0.5)
      ? String(random.int(10, 999))
      : (random.next() * 10).toFixed(random.int(1, 2));
  return { latex: value, typst: value };
}

function decorated(random: Random): Formula {
  const base = letter(random);
  if (/^[A-Z]$/.test(base.latex) && random.chance(0.5)) {
    const [command, name] = random.pick(ALPHABETS);
    return { latex: `${command}{${base.latex}}`, typst: `${name}(${base.typst})` };
  }
  const [command, name] = random.pick(ACCENTS);
  return { latex: `${command}{${base.latex}}`, typst: `${name}(${base.typst})` };
}

function atom(random: Random): Formula {
  const kind = random.weighted({ letter: 62, number: 22, decorated: 9, infinity: 2, partial: 2, dots: 3 });
  if (kind === "letter") return letter(random);
  if (kind === "number") return number(random);
  if (kind === "decorated") return decorated(random);
  if (kind === "infinity") return of(["\\infty", "infinity"]);
  if (kind === "partial") return join(of(["\\partial", "partial"]), letter(random));
  return of(["\\cdots", "dots.c"]);
}

/** A short script: what stands in a sub- or superscript. */
function script(random: Random): Formula {
  const kind = random.int(0, 5);
  if (kind <= 1) return letter(random);
  if (kind <= 3) return random.chance(0.5) ? { latex: "2", typst: "2" } : number(random);
  if (kind === 4)
    return join(
      letter(random),
      of(
        random.pick<Pair>([
          ["+", "+"],
          ["-", "-"],
        ]),
      ),
      { latex: "1", typst: "1" },
    );
  return join(letter(random), letter(random));
}

function scripted(base: Formula, random: Random): Formula {
  const which = random.int(0, 2);
  const above = which !== 1 ? script(random) : undefined;
  const below = which !== 0 ? script(random) : undefined;
  return withLimits(base, below, above);
}

function braced(latex: string): string {
  return [...latex].length === 1 ? latex : `{${latex}}`;
}

function withLimits(base: Formula, below: Formula | undefined, above: Formula | undefined): Formula {
  const latex = `${base.latex}${below ? `_${braced(below.latex)}` : ""}${above ? `^${braced(above.latex)}` : ""}`;
  const typst = `attach(${base.typst}${above ? `, t: ${above.typst}` : ""}${below ? `, b: ${below.typst}` : ""})`;
  return { latex, typst };
}

function isTall(formula: Formula): boolean {
  return /\\frac|\\sum|\\int|\\prod|\\begin|\\binom/.test(formula.latex);
}

function bracketed(inner: Formula, random: Random): Formula {
  const { latex, typst } = random.pick(BRACKETS);
  const tall = isTall(inner);
  return {
    latex: tall ? joinLatex(`\\left${latex[0]}`, inner.latex, `\\right${latex[1]}`) : joinLatex(latex[0], inner.latex, latex[1]),
    typst: `lr(${typst[0]} ${inner.typst} ${typst[1]})`,
  };
}

function functionCall(depth: number, random: Random): Formula {
  if (random.chance(0.5)) {
    const name = random.pick(FUNCTIONS);
    const base: Formula = { latex: `\\${name}`, typst: name };
    const argument = random.chance(0.5) ? letter(random) : bracketed(expression(Math.min(depth, 1), random), random);
    return join(random.chance(0.15) ? withLimits(base, undefined, { latex: "2", typst: "2" }) : base, argument);
  }
  const inside = random.chance(0.3) ? join(atom(random), COMMA, atom(random)) : expression(Math.min(depth, 1), random);
  const name = letter(random);
  return { latex: joinLatex(name.latex, "(", inside.latex, ")"), typst: `${name.typst} lr(paren.l ${inside.typst} paren.r)` };
}

function bigOperator(depth: number, random: Random): Formula {
  const operator = of(
    random.pick<Pair>([
      ["\\sum", "sum"],
      ["\\sum", "sum"],
      ["\\int", "integral"],
      ["\\prod", "product"],
      ["\\lim", "lim"],
      ["\\oint", "integral.cont"],
    ]),
  );
  const index = letter(random);
  if (operator.latex === "\\lim") {
    const limit = join(index, of(["\\to", "->"]), random.chance(0.5) ? of(["\\infty", "infinity"]) : number(random));
    return join(withLimits(operator, limit, undefined), term(depth - 1, random));
  }
  const integral = operator.latex.endsWith("int");
  const below = integral
    ? random.chance(0.7)
      ? number(random)
      : letter(random)
    : random.chance(0.8)
      ? join(index, of(["=", "="]), number(random))
      : join(index, of(["\\in", "in"]), letter(random));
  const above =
    below.latex.includes("\\in ") || below.latex.includes("\\in\\") || random.chance(0.15)
      ? undefined
      : random.chance(0.3)
        ? of(["\\infty", "infinity"])
        : letter(random);
  const signed = integral && random.chance(0.2) ? operator : withLimits(operator, below, above);
  const body = join(signed, term(depth - 1, random));
  return integral ? join(body, { latex: "\\,d", typst: "thin d" }, letter(random)) : body;
}

function matrix(random: Random): Formula {
  const rows = random.int(2, 3);
  const columns = random.int(1, 3);
  const cells = Array.from({ length: rows }, () =>
    Array.from({ length: columns }, () => (random.chance(0.6) ? atom(random) : scripted(letter(random), random))),
  );
  const kind = random.pick<readonly [string, string]>([
    ["pmatrix", '"("'],
    ["bmatrix", '"["'],
    ["vmatrix", '"|"'],
  ]);
  return {
    latex: `\\begin{${kind[0]}}${cells.map((row) => row.map((cell) => cell.latex).join("&")).join("\\\\")}\\end{${kind[0]}}`,
    typst: `mat(delim: ${kind[1]}, ${cells.map((row) => row.map((cell) => cell.typst).join(", ")).join("; ")})`,
  };
}

function cases(random: Random): Formula {
  const rows = Array.from({ length: random.int(2, 3) }, (_, i) => {
    const word = i === 0 ? "if" : random.pick(["if", "otherwise"]);
    const value = expression(1, random);
    if (word === "otherwise") return { value, latex: "\\text{otherwise}", typst: '"otherwise"' };
    const condition = join(letter(random), of(random.pick(RELATIONS)), atom(random));
    return { value, latex: `\\text{if }${condition.latex}`, typst: `"if " ${condition.typst}` };
  });
  return {
    latex: `\\begin{cases}${rows.map((row) => `${row.value.latex}&${row.latex}`).join("\\\\")}\\end{cases}`,
    typst: `cases(${rows.map((row) => `${row.value.typst} & ${row.typst}`).join(", ")})`,
  };
}

function fraction(depth: number, random: Random): Formula {
  const [above, below] = [expression(depth - 1, random), random.chance(0.5) ? term(depth - 1, random) : expression(depth - 1, random)];
  return { latex: `\\frac{${above.latex}}{${below.latex}}`, typst: `frac(${above.typst}, ${below.typst})` };
}

function root(depth: number, random: Random): Formula {
  const inner = expression(depth - 1, random);
  if (random.chance(0.8)) return { latex: `\\sqrt{${inner.latex}}`, typst: `sqrt(${inner.typst})` };
  const degree = String(random.int(3, 5));
  return { latex: `\\sqrt[${degree}]{${inner.latex}}`, typst: `root(${degree}, ${inner.typst})` };
}

function term(depth: number, random: Random): Formula {
  if (depth <= 0) return random.chance(0.35) ? scripted(letter(random), random) : atom(random);
  switch (random.weighted({ atom: 26, scripted: 26, fraction: 14, root: 6, bracket: 7, call: 10, big: 8, binom: 1, derivative: 2 })) {
    case "atom":
      return atom(random);
    case "scripted":
      return scripted(random.chance(0.9) ? letter(random) : decorated(random), random);
    case "fraction":
      return fraction(depth, random);
    case "root":
      return root(depth, random);
    case "bracket": {
      const group = bracketed(expression(depth - 1, random), random);
      return random.chance(0.35) ? withLimits(group, undefined, script(random)) : group;
    }
    case "call":
      return functionCall(depth - 1, random);
    case "big":
      return bigOperator(depth, random);
    case "binom": {
      const [n, k] = [atom(random), atom(random)];
      return { latex: `\\binom{${n.latex}}{${k.latex}}`, typst: `binom(${n.typst}, ${k.typst})` };
    }
    default: {
      const [y, x] = [letter(random), letter(random)];
      const [latex, typst] = random.pick<Pair>([
        ["\\partial", "partial"],
        ["d", "d"],
      ]);
      return {
        latex: `\\frac{${joinLatex(latex, y.latex)}}{${joinLatex(latex, x.latex)}}`,
        typst: `frac(${typst} ${y.typst}, ${typst} ${x.typst})`,
      };
    }
  }
}

function expression(depth: number, random: Random): Formula {
  let result = random.chance(0.07) ? join(of(["-", "-"]), term(depth, random)) : term(depth, random);
  const more = random.weighted({ "0": 45, "1": 38, "2": 17 });
  for (let i = 0; i < Number(more); i++)
    result = random.chance(0.25) ? join(result, factor(depth, random)) : join(result, of(random.pick(BINARY)), term(depth, random));
  return result;
}

/** A term that may follow another without an operator. */
function factor(depth: number, random: Random): Formula {
  const next = term(depth, random);
  return /^[0-9-]/.test(next.latex) ? join(of(["+", "+"]), next) : next;
}

function statement(depth: number, random: Random): Formula {
  let result = join(expression(Math.max(1, depth - 1), random), of(random.pick(RELATIONS)), expression(depth, random));
  if (random.chance(0.15)) result = join(result, of(random.pick(RELATIONS)), expression(1, random));
  return result;
}

/** A formula for running text: short, no taller than a line or two. */
export function inlineFormula(random: Random): Formula {
  return random.pick([
    () => letter(random),
    () => scripted(letter(random), random),
    () => join(letter(random), of(random.pick(RELATIONS)), atom(random)),
    () => functionCall(0, random),
  ])();
}

/** A formula set off from the text; `size` 1 (one plain statement) to 3 (nested, matrices, several lines). */
export function displayFormula(random: Random, size: 1 | 2 | 3): Formula {
  const kind = random.weighted({ statement: 70, words: 8, matrix: size > 1 ? 8 : 0, cases: size > 1 ? 7 : 0, aligned: size > 1 ? 9 : 0 });
  let formula: Formula;
  if (kind === "statement") formula = statement(size, random);
  else if (kind === "words") {
    const word = random.pick(SMALL_WORDS);
    formula = join(
      statement(Math.max(1, size - 1), random),
      COMMA,
      { latex: `\\quad\\text{${word} }`, typst: `quad "${word} "` },
      statement(1, random),
    );
  } else if (kind === "matrix")
    formula = join(letter(random), of(["=", "="]), matrix(random), random.chance(0.5) ? matrix(random) : { latex: "", typst: "" });
  else if (kind === "cases") formula = join({ latex: "", typst: "" }, functionCall(0, random), of(["=", "="]), cases(random));
  else {
    const lines = Array.from({ length: random.int(2, 3) }, (_, i) => ({
      left: i === 0 || random.chance(0.4) ? expression(1, random) : { latex: "", typst: "" },
      right: join(of(["=", "="]), expression(size - 1, random)),
    }));
    formula = {
      latex: `\\begin{aligned}${lines.map((line) => `${line.left.latex}&${line.right.latex}`).join("\\\\")}\\end{aligned}`,
      typst: lines.map((line) => `${line.left.typst} &${line.right.typst}`).join(" \\ "),
    };
  }
  if (!formula.latex.includes("\\begin") && random.chance(0.25)) {
    const [latex, typst] = random.pick<Pair>([
      [".", "."],
      [",", "comma"],
    ]);
    formula = join(formula, { latex, typst });
  }
  return formula;
}
