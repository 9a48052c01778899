/**
 * A checkpoint made runnable: the two inference programs lowered with their weights by reference into the checkpoint's files, after
 * the rewrite passes of the chosen precision, and loaded on the chosen device.
 */
import type { Checkpoint } from "../checkpoint/folder.ts";
import { MineruError } from "../error.ts";
import { lower, type ParameterBinding } from "../graph/lowering.ts";
import type { DType, Program, Value } from "../graph/value.ts";
import { parameterShapes } from "../model/parameters.ts";
import { decodeProgram, encodeImageProgram } from "../model/programs.ts";
import type { Runtime, Session, SessionOptions } from "../runtime/session.ts";

export interface ModelSessions extends AsyncDisposable {
  readonly encodeImage: Session;
  readonly decode: Session;
}

const fileTypes: Readonly<Record<string, DType>> = { F32: "float32", F16: "float16", BF16: "bfloat16" };

/** Binds every parameter to its place in the checkpoint's files, relative to the folder. */
export function bindToFiles(checkpoint: Checkpoint): (parameter: Value<"parameter">) => ParameterBinding {
  return ({ attributes: { name } }) => {
    const tensor = checkpoint.tensors.get(name);
    if (!tensor) throw new Error(`internal: ${name} was not verified`);
    const dtype = fileTypes[tensor.dtype];
    if (!dtype) throw new MineruError("checkpoint-invalid", `${name} expected F32, F16 or BF16 numbers, got ${tensor.dtype}`);
    const location = tensor.file.slice(checkpoint.dir.length + 1);
    return { kind: "external", weight: { location, offset: tensor.offset, byteLength: tensor.byteLength, dtype } };
  };
}

export interface SessionsOptions extends Omit<SessionOptions, "weightsFolder"> {
  /** A rewrite of each program before it is lowered, and the bindings of the parameters it makes. */
  readonly rewrite?: (program: Program) => {
    readonly program: Program;
    readonly bind?: (parameter: Value<"parameter">) => ParameterBinding | null;
  };
}

/** @throws MineruError `checkpoint-invalid` if tensors are missing, surplus or misshapen; `runtime-unavailable` if it cannot be loaded. */
export async function loadSessions(checkpoint: Checkpoint, runtime: Runtime, options: SessionsOptions = {}): Promise<ModelSessions> {
  checkpoint.verifyTensors(parameterShapes(checkpoint.config));
  const { rewrite, ...sessionOptions } = options;
  const toFile = bindToFiles(checkpoint);
  const load = (program: Program): Promise<Session> => {
    const rewritten = rewrite?.(program) ?? { program };
    const lowered = lower(rewritten.program, (parameter) => rewritten.bind?.(parameter) ?? toFile(parameter));
    return runtime.load(lowered, { ...sessionOptions, weightsFolder: checkpoint.dir });
  };
  const encodeImage = await load(encodeImageProgram(checkpoint.config));
  const decode = await load(decodeProgram(checkpoint.config));
  return {
    encodeImage,
    decode,
    async [Symbol.asyncDispose]() {
      await encodeImage.release();
      await decode.release();
    },
  };
}
