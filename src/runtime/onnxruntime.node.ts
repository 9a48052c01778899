/**
 * ONNX Runtime in this Node process. `run` computes on the calling thread; programs that must stay responsive use the worker beside
 * this file, which hosts the same code.
 */
import * as ort from "onnxruntime-node";
import { createSession } from "./onnxruntime.ts";
import type { Runtime, SessionOptions } from "./session.ts";

// What goes wrong is told by errors; ONNX Runtime would print it as well.
ort.env.logLevel = "fatal";

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

/** Runs in this process; blocks the thread while it computes. */
export const nodeRuntime: Runtime = {
  load: ({ model }, options = {}) => createSession(ort, model, options.device ?? "cpu", sessionOptions(options)),
};
