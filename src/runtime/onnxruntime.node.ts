/**
 * ONNX Runtime in this Node process. `run` computes on the calling thread; programs that must stay responsive use the worker beside
 * this file, which hosts the same code.
 */
import * as ort from "onnxruntime-node";
import { MineruError } from "../error.ts";
import type { OnnxProgram } from "../graph/lowering.ts";
import type { Runtime, Session, SessionOptions, Tensor, TensorArray, Tensors } from "./session.ts";

// What goes wrong is told by errors; ONNX Runtime would print it as well.
ort.env.logLevel = "fatal";

function toOrt({ dtype, data, shape }: Tensor): ort.Tensor {
  return new ort.Tensor(dtype as "float32", data as Float32Array, shape);
}

function fromOrt(tensor: ort.Tensor): Tensor {
  return { dtype: tensor.type as Tensor["dtype"], shape: tensor.dims, data: tensor.data as TensorArray };
}

const mapValues = <A, B>(record: Readonly<Record<string, A>>, f: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, f(value)]));

function sessionOptions(options: SessionOptions): ort.InferenceSession.SessionOptions {
  const { device = "cpu", threads, weightsFolder, weightsInMemory, quietThreads } = options;
  const session: Record<string, string> = {};
  if (weightsFolder !== undefined) session.model_external_initializers_file_folder_path = weightsFolder;
  if (quietThreads) session.intra_op = { allow_spinning: "0" } as unknown as string;
  return {
    executionProviders: device === "cpu" ? ["cpu"] : [device, "cpu"],
    graphOptimizationLevel: "all",
    ...(threads === undefined ? {} : { intraOpNumThreads: threads }),
    ...(weightsInMemory ? { externalData: Array.from(weightsInMemory, ([path, data]) => ({ path, data })) } : {}),
    logSeverityLevel: 4,
    extra: { session },
  };
}

async function load({ model }: OnnxProgram, options: SessionOptions = {}): Promise<Session> {
  let session: ort.InferenceSession;
  try {
    session = await ort.InferenceSession.create(model, sessionOptions(options));
  } catch (cause) {
    const device = options.device ?? "cpu";
    throw new MineruError("runtime-unavailable", `ONNX Runtime could not load the model on ${device}: ${(cause as Error).message}`, {
      cause,
    });
  }
  let released = false;
  return {
    async run(feeds, outputs, preallocated) {
      if (released) throw new TypeError("session expected to be loaded, got a released one");
      try {
        const fetches = preallocated ? mapValues(preallocated, toOrt) : outputs;
        return mapValues(await session.run(mapValues(feeds, toOrt), fetches as string[]), fromOrt) as Tensors;
      } catch (cause) {
        throw new MineruError("runtime-failed", `ONNX Runtime failed while computing ${outputs.join(", ")}: ${(cause as Error).message}`, {
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

/** Runs in this process; blocks the thread while it computes. */
export const nodeRuntime: Runtime = { load };
