/**
 * Where the tokens of an answer stand on the picture, for dense supervision: letters in their places, and what prints nothing (spaces, marks
 * of cells, commands) beside the letters it goes with. What the image tokens say is then nearly the answer. It refuses to guess: where
 * letters and answer disagree, the letters stand alone.
 */
import type { PlacedCharacter } from "./sample.ts";

/** The characters of a line with its spaces, each in the middle of its gap. */
export function withSpaces(answer: string, letters: readonly PlacedCharacter[]): PlacedCharacter[] {
  let next = 0;
  return [...answer].flatMap((char): PlacedCharacter[] => {
    if (char.trim() !== "") return next < letters.length ? [letters[next++]] : [];
    const [before, after] = [letters[next - 1], letters[next]];
    return before && after ? [{ char, x: (before.x + after.x) / 2, y: before.y }] : [];
  });
}

const sameLetter = (a: string, b: string): boolean => a.normalize("NFKC") === b.normalize("NFKC");

/** The letters of `cell`, taken out of `left`: a cell over several rows may be printed after its neighbours. */
function takeCell(cell: string, left: PlacedCharacter[]): PlacedCharacter[] | undefined {
  const wanted = [...cell].filter((char) => char.trim() !== "");
  const start = left.findIndex((_, from) => wanted.every((char, i) => from + i < left.length && sameLetter(char, left[from + i].char)));
  return start < 0 ? undefined : left.splice(start, wanted.length);
}

/** Spaces of a cell whose letters are `letters`; a line's end has none. */
function spaced(cell: string, letters: readonly PlacedCharacter[]): PlacedCharacter[] {
  const isOneLine = (a: PlacedCharacter, b: PlacedCharacter) => Math.abs(b.y - a.y) < Math.abs(b.x - a.x);
  let next = 0;
  return [...cell].flatMap((char): PlacedCharacter[] => {
    if (char.trim() !== "") return [{ ...letters[next++], char }];
    const [before, after] = [letters[next - 1], letters[next]];
    return before && after && isOneLine(before, after) ? [{ char, x: (before.x + after.x) / 2, y: before.y }] : [];
  });
}

/**
 * The letters of a table with the marks of its cells: a cell's mark stands at its first letter, those of empty and spanned cells at the next
 * letter of their row, the end of a row and what stands before it at the row's last letter.
 */
export function withCells(otsl: string, letters: readonly PlacedCharacter[]): readonly PlacedCharacter[] {
  const placed: PlacedCharacter[] = [];
  const left = [...letters];
  let waiting: string[] = [];
  const put = ({ x, y }: PlacedCharacter): void => {
    placed.push(...waiting.map((char) => ({ char, x, y })));
    waiting = [];
  };
  for (const [, mark, cell] of otsl.matchAll(/(<[a-z]+>)([^<]*)/gu)) {
    waiting.push(mark);
    if (cell.trim() !== "") {
      const own = takeCell(cell, left);
      if (!own) return letters;
      put(own[0]);
      placed.push(...spaced(cell, own));
    } else if (mark === "<nl>" && placed.length > 0) put(placed[placed.length - 1]);
  }
  return left.length === 0 ? placed : letters;
}

/** Signs of mathematics as LaTeX writes them, "sign command" by "sign command". */
const COMMANDS: ReadonlyMap<string, string> = new Map(
  (
    "α alpha β beta γ gamma δ delta ϵ epsilon ε varepsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi ρ rho " +
    "ϱ varrho σ sigma ς varsigma τ tau υ upsilon ϕ phi φ varphi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma " +
    "Υ Upsilon Φ Phi Ψ Psi Ω Omega ∂ partial ∇ nabla ∞ infty ⋅ cdot × times ÷ div ± pm ∓ mp ∘ circ ⊕ oplus ⊗ otimes ∩ cap ∪ cup ∈ in ⊂ subset " +
    "≤ leq ≥ geq ≠ neq ≡ equiv ≈ approx ∼ sim ∝ propto → to ⇒ Rightarrow ⋯ cdots ∑ sum ∏ prod ∫ int ∮ oint √ sqrt ‖ | { { } } " +
    "\u0302 hat \u0303 tilde \u0304 bar \u20d7 vec \u0307 dot \u0305 overline"
  )
    .split(" ")
    .reduce<[string, string][]>((pairs, word, i) => {
      if (i % 2 === 0) pairs.push([word, ""]);
      else pairs[pairs.length - 1][1] = `\\${word}`;
      return pairs;
    }, []),
);

/** Printed letters of a formula as LaTeX writes them: letters of mathematical alphabets as plain ones, signs as their commands. */
export function asLatex(letters: readonly PlacedCharacter[]): PlacedCharacter[] {
  return letters.map((letter) => {
    const plain = COMMANDS.has(letter.char) ? letter.char : letter.char.normalize("NFKC").replace("−", "-").replace("∗", "*");
    return { ...letter, char: COMMANDS.get(plain) ?? plain };
  });
}
