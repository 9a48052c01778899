/**
 * Runs values of a graph on ONNX Runtime's CPU kernels, for tests: parameters are fed like inputs, and every result comes back.
 */
import { lower } from "../src/graph/lowering.ts";
import type { Value } from "../src/graph/value.ts";
import { nodeRuntime } from "../src/runtime/onnxruntime.node.ts";
import type { SessionOptions, Tensor, Tensors } from "../src/runtime/session.ts";

/** A loaded graph: feeds in, all outputs out. Released by `await using`. */
export interface Evaluator extends AsyncDisposable {
  (feeds: Tensors): Promise<Tensors>;
}

export async function loadValues(outputs: Readonly<Record<string, Value>>, options: SessionOptions = { threads: 1 }): Promise<Evaluator> {
  const lowered = lower({ name: "test", outputs }, () => ({ kind: "input" }));
  const session = await nodeRuntime.load(lowered, options);
  const evaluate = (feeds: Tensors) =>
    session.run(Object.fromEntries(Object.entries(feeds).filter(([name]) => lowered.inputs.includes(name))), lowered.outputs);
  return Object.assign(evaluate, { [Symbol.asyncDispose]: () => session.release() });
}

/** One run. */
export async function evaluate(outputs: Readonly<Record<string, Value>>, feeds: Tensors = {}): Promise<Tensors> {
  await using run = await loadValues(outputs);
  return await run(feeds);
}

/** A tensor's numbers, whatever its type. */
export const numbers = ({ data }: Tensor): number[] => Array.from(data as ArrayLike<number | bigint>, Number);
