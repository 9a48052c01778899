/**
 * The text form of a program, one line per value: what tests compare and people read.
 */
import { formatShape } from "./shapes.ts";
import { type Program, topologicalOrder, type Value } from "./value.ts";

function attributesText(value: Value): string {
  const parts = Object.entries(value.attributes).map(([key, attribute]) => {
    if (ArrayBuffer.isView(attribute)) {
      const data = attribute as unknown as ArrayLike<number | bigint>;
      return data.length <= 4 ? Array.from(data).join(" ") : `${key}=${data.length} numbers`;
    }
    return `${key}=${Array.isArray(attribute) ? formatShape(attribute) : String(attribute)}`;
  });
  return parts.length > 0 ? ` {${parts.join(", ")}}` : "";
}

/** Example line: `%3: float32[rows, 64] = matmul(%1, %2) {transposeA=false, transposeB=true}`. */
export function printProgram(program: Program): string {
  const order = topologicalOrder(Object.values(program.outputs));
  const names = new Map(order.map((value, i) => [value, `%${i}`]));
  const lines = order.map((value) => {
    const operands = value.inputs.map((operand) => names.get(operand)).join(", ");
    return `  ${names.get(value)}: ${value.dtype}${formatShape(value.shape)} = ${value.op}(${operands})${attributesText(value)}`;
  });
  const outputs = Object.entries(program.outputs).map(([name, value]) => `${name}: ${names.get(value)}`);
  return [`program ${program.name} {`, ...lines, `  return ${outputs.join(", ")}`, "}"].join("\n");
}
