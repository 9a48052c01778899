/**
 * Reverse-mode differentiation, graph to graph: one walk over the values in reverse order, one table of rules.
 */
import { gradientRules } from "./gradients.ts";
import * as g from "./ops.ts";
import { sameShape } from "./shapes.ts";
import { type OpName, topologicalOrder, type Value } from "./value.ts";

/**
 * The gradients of a scalar `loss` with respect to `targets`, in their order.
 * @throws TypeError if the loss has axes; Error ("internal: …") if a target does not reach the loss.
 */
export function backward(loss: Value, targets: readonly Value[]): Value[] {
  if (loss.shape.length !== 0) throw new TypeError(`loss expected no axes, got [${loss.shape.join(", ")}]`);
  const order = topologicalOrder([loss]);
  const wanted = new Set(targets);
  const needed = new Set<Value>(); // values on a path from a target to the loss
  for (const value of order) if (wanted.has(value) || value.inputs.some((v) => needed.has(v))) needed.add(value);

  const gradients = new Map<Value, Value>([[loss, g.scalar(1)]]);
  for (const value of order.reverse()) {
    const gradient = gradients.get(value);
    if (gradient === undefined || value.inputs.length === 0) continue;
    const rule = gradientRules[value.op] as (value: Value<OpName>, gradient: Value) => readonly (Value | null)[];
    const operandGradients = rule(value, gradient);
    value.inputs.forEach((operand, i) => {
      const part = operandGradients[i];
      if (!needed.has(operand) || part === null) return;
      if (!sameShape(part.shape, operand.shape)) {
        throw new Error(`internal: gradient of ${value.op} operand ${i} has shape [${part.shape}], expected [${operand.shape}]`);
      }
      const sum = gradients.get(operand);
      gradients.set(operand, sum ? g.add(sum, part) : part);
    });
  }
  return targets.map((target) => {
    const gradient = gradients.get(target);
    if (!gradient)
      throw new Error(
        `internal: ${target.op === "parameter" ? (target as Value<"parameter">).attributes.name : target.op} does not reach the loss`,
      );
    return gradient;
  });
}
