/**
 * Tables that are only looked up stay in the 16 bits they are stored in; the few rows found are widened. Exact, and it saves what ONNX
 * Runtime would spend on a float32 copy of the whole table: 1.2 GB for the published vocabulary.
 */
import * as g from "../ops.ts";
import { type DType, isOp, type Program, topologicalOrder, type Value } from "../value.ts";
import { rewrite } from "./rewrite.ts";

/** `storedType` tells the type in which the checkpoint holds a tensor. */
export function keepTablesAsStored(program: Program, storedType: (name: string) => DType): Program {
  const users = new Map<Value, number>();
  for (const { inputs } of topologicalOrder(Object.values(program.outputs)))
    for (const operand of inputs) users.set(operand, (users.get(operand) ?? 0) + 1);
  return rewrite(program, (value, [, indices]) => {
    const [table] = value.inputs;
    if (!isOp(value, "gather") || !isOp(table, "parameter") || users.get(table) !== 1) return null;
    const { name } = table.attributes;
    const dtype = storedType(name);
    return dtype === table.dtype ? null : g.cast(g.gather(g.parameter(name, table.shape, dtype), indices), table.dtype);
  });
}
