/**
 * A checkpoint made runnable: the two inference programs on the chosen device, after the rewrite passes of the chosen precision. Their
 * weights are referred to, in the checkpoint's files or in the cache of packed ones, never copied into a model.
 */
import type { Checkpoint } from "../checkpoint/checkpoint.ts";
import { MineruError } from "../error.ts";
import { lower, type ParameterBinding } from "../graph/lowering.ts";
import { quantise } from "../graph/passes/quantise.ts";
import { keepTablesAsStored } from "../graph/passes/stored-tables.ts";
import type { DType, Program, Value } from "../graph/value.ts";
import { parameterShapes } from "../model/parameters.ts";
import { decodeProgram, encodeImageProgram } from "../model/programs.ts";
import { type ChosenDevice, chooseDevice, type DeviceChoice } from "../runtime/device.ts";
import type { Device, Runtime, Session, SessionOptions } from "../runtime/session.ts";
import { type PackWeights, tensorGroups } from "./packed-tensors.ts";
import { type ChosenPrecision, choosePrecision, type PrecisionChoice } from "./precision.ts";

export interface ModelSessions extends AsyncDisposable {
  readonly encodeImage: Session;
  readonly decode: Session;
  readonly device: ChosenDevice;
  readonly precision: ChosenPrecision;
}

export interface SessionsOptions extends Pick<SessionOptions, "threads" | "quietThreads"> {
  /** Default "cpu"; "auto" looks for something faster and falls back with a warning. */
  readonly device?: DeviceChoice;
  /** Default "auto". */
  readonly precision?: PrecisionChoice;
  /** Folder under which packed weights are kept between starts; the user's cache folder if absent. */
  readonly cacheDir?: string;
  /** Told, in words for people, what was expected and could not be had. */
  readonly onWarning?: (message: string) => void;
}

const fileTypes: Readonly<Record<string, DType>> = { F32: "float32", F16: "float16", BF16: "bfloat16" };

function storedType({ tensors }: Checkpoint, name: string): DType {
  const tensor = tensors.get(name);
  if (!tensor) throw new Error(`internal: ${name} was not verified`);
  const dtype = fileTypes[tensor.dtype];
  if (!dtype) throw new MineruError("checkpoint-invalid", `${name} expected F32, F16 or BF16 numbers, got ${tensor.dtype}`);
  return dtype;
}

/** Binds every parameter to its place in the checkpoint's files, relative to the folder. */
export function bindToFiles(checkpoint: Checkpoint): (parameter: Value<"parameter">) => ParameterBinding {
  return ({ attributes: { name } }) => {
    const dtype = storedType(checkpoint, name);
    const { file, offset, byteLength } = checkpoint.tensors.get(name)!;
    return { kind: "external", weight: { location: file.slice(checkpoint.dir.length + 1), offset, byteLength, dtype } };
  };
}

/**
 * Below this many parameters an operation is too small to share: passes of `mini` (3.3 million) take 1.5 to 4 times as long with two
 * threads as with one while anything else runs on the machine, and no less at best.
 */
const ONE_THREAD_BELOW = 30e6;

type Loader = (program: Program) => Promise<Session>;

/** In float32 straight from the checkpoint's files, otherwise from packed copies of its weights. */
async function loaderFor(
  checkpoint: Checkpoint,
  programs: readonly Program[],
  { linear }: ChosenPrecision,
  device: Device,
  load: (program: Program, bind: (parameter: Value<"parameter">) => ParameterBinding, location: SessionOptions) => Promise<Session>,
  packWeights: PackWeights,
  options: SessionsOptions,
): Promise<Loader> {
  if (linear === null) {
    const bind = bindToFiles(checkpoint);
    // Not every graphics processor looks up 16-bit numbers under WebGPU (`shader-f16`).
    const kept = (program: Program) =>
      device === "webgpu" ? program : keepTablesAsStored(program, (name) => storedType(checkpoint, name));
    return (program) => load(kept(program), bind, checkpoint.weights);
  }
  const quantised = new Map(programs.map((program) => [program, quantise(program, linear)]));
  const { bind, location } = await packWeights(checkpoint, tensorGroups(checkpoint, [...quantised.values()]), options);
  return (program) => load(quantised.get(program)!.program, bind, location);
}

/**
 * Loads both programs; `packWeights` keeps the weights of precisions other than the checkpoint's.
 * @throws MineruError `checkpoint-invalid` if tensors are missing, surplus or misshapen; `runtime-unavailable` if it cannot be loaded or
 * the device asked for cannot be used. RangeError for a precision that the device cannot compute in.
 */
export async function loadSessions(
  checkpoint: Checkpoint,
  runtime: Runtime,
  packWeights: PackWeights,
  options: SessionsOptions = {},
): Promise<ModelSessions> {
  const shapes = parameterShapes(checkpoint.config);
  checkpoint.verifyTensors(shapes);
  const { device: wanted = "cpu", precision: wantedPrecision = "auto", quietThreads, onWarning } = options;
  const parameterCount = [...shapes.values()].reduce((sum, shape) => sum + shape.reduce((product, edge) => product * edge, 1), 0);
  const threads = options.threads ?? (parameterCount < ONE_THREAD_BELOW ? 1 : undefined);

  const loadOn = async (chosen: ChosenDevice): Promise<ModelSessions> => {
    const { device } = chosen;
    const precision = await choosePrecision({ wanted: wantedPrecision, device, runtime, parameterCount });
    const programs = [encodeImageProgram(checkpoint.config), decodeProgram(checkpoint.config)];
    const load = await loaderFor(
      checkpoint,
      programs,
      precision,
      device,
      (program, bind, location) => runtime.load(lower(program, bind), { threads, quietThreads, device, ...location }),
      packWeights,
      options,
    );
    const encodeImage = await load(programs[0]);
    const decode = await load(programs[1]).catch(async (error) => {
      await encodeImage.release();
      throw error;
    });
    return {
      encodeImage,
      decode,
      device: chosen,
      precision,
      async [Symbol.asyncDispose]() {
        await encodeImage.release();
        await decode.release();
      },
    };
  };

  const chosen = await chooseDevice(runtime, wanted);
  const toldOf = (refused: ChosenDevice["refused"]): string => refused.map(({ device, reason }) => `${device}: ${reason}`).join("; ");
  if (chosen.device === "cpu" && chosen.refused.length > 0) onWarning?.(`computing on the processor (${toldOf(chosen.refused)})`);
  try {
    return await loadOn(chosen);
  } catch (error) {
    const lost: Device = chosen.device;
    if (wanted !== "auto" || lost === "cpu" || !(error instanceof MineruError) || error.code !== "runtime-unavailable") throw error;
    const refused = [...chosen.refused, { device: lost, reason: error.message }];
    onWarning?.(`computing on the processor (${toldOf(refused)})`);
    return loadOn({ device: "cpu", why: `the model could not be loaded on ${lost}`, refused });
  }
}
