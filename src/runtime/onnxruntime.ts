/**
 * What ONNX Runtime's bindings have in common, in Node and in browsers: tensors to theirs and back, and sessions as the house knows them.
 * How a binding is found and set up is told by the files beside this one.
 */
import type { InferenceSession, Tensor as OrtTensor } from "onnxruntime-node";
import { MineruError } from "../error.ts";
import type { Device, Session, Tensor, TensorArray, Tensors } from "./session.ts";

/** The part of a binding that is used here. */
export interface Binding {
  readonly InferenceSession: Pick<typeof InferenceSession, "create">;
  readonly Tensor: typeof OrtTensor;
}

function fromOrt(tensor: OrtTensor): Tensor {
  return { dtype: tensor.type as Tensor["dtype"], shape: tensor.dims, data: tensor.data as TensorArray };
}

const mapValues = <A, B>(record: Readonly<Record<string, A>>, f: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, f(value)]));

/** Loads a model. Throws MineruError `runtime-unavailable`. */
export async function createSession(
  { InferenceSession, Tensor }: Binding,
  model: Uint8Array,
  device: Device,
  options: InferenceSession.SessionOptions,
): Promise<Session> {
  let session: InferenceSession;
  try {
    session = await InferenceSession.create(model, options);
  } catch (cause) {
    throw new MineruError("runtime-unavailable", `ONNX Runtime could not load the model on ${device}: ${messageOf(cause)}`, { cause });
  }
  const toOrt = ({ dtype, data, shape }: Tensor): OrtTensor => new Tensor(dtype as "float32", data as Float32Array, shape);
  let released = false;
  return {
    async run(feeds, outputs, preallocated) {
      if (released) throw new TypeError("session expected to be loaded, got a released one");
      try {
        const fetches = preallocated ? mapValues(preallocated, toOrt) : outputs;
        return mapValues(await session.run(mapValues(feeds, toOrt), fetches as string[]), fromOrt) as Tensors;
      } catch (cause) {
        throw new MineruError("runtime-failed", `ONNX Runtime failed while computing ${outputs.join(", ")}: ${messageOf(cause)}`, {
          cause,
        });
      }
    },
    async release() {
      if (!released) await session.release();
      released = true;
    },
  };
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
