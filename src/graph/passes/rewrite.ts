/**
 * Rewriting a program: every value is offered to a rule, operands first, and replaced by what the rule gives. A rule may choose another
 * way to compute a value, never another type or shape, so whatever stands around it stays valid.
 */
import { formatShape, sameShape } from "../shapes.ts";
import { type Program, topologicalOrder, type Value } from "../value.ts";

/** `inputs` are the operands of `value` after rewriting. Returns the replacement, or null to keep the operation. */
export type RewriteRule = (value: Value, inputs: readonly Value[]) => Value | null;

/** The program with every value replaced; values that nothing needs any more are gone. */
export function rewrite(program: Program, rule: RewriteRule): Program {
  const replaced = new Map<Value, Value>();
  for (const value of topologicalOrder(Object.values(program.outputs))) {
    const inputs = value.inputs.map((operand) => replaced.get(operand)!);
    const unchanged = inputs.every((operand, i) => operand === value.inputs[i]);
    const replacement = rule(value, inputs) ?? (unchanged ? value : { ...value, inputs });
    if (replacement.dtype !== value.dtype || !sameShape(replacement.shape, value.shape)) {
      const [was, is] = [value, replacement].map(({ dtype, shape }) => dtype + formatShape(shape));
      throw new Error(`internal: a rewrite of ${program.name} turned ${value.op} from ${was} into ${is}`);
    }
    replaced.set(value, replacement);
  }
  const outputs = Object.entries(program.outputs).map(([name, value]) => [name, replaced.get(value)!] as const);
  return { name: program.name, outputs: Object.fromEntries(outputs) };
}
