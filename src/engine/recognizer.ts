/**
 * What a recogniser is – crops in, texts out, from whatever holds the weights – and the one of a checkpoint folder: the engine room's
 * public face.
 */
import { openCheckpoint } from "../checkpoint/folder.ts";
import type { ImageProcessorConfig } from "../image/processor-config.ts";
import type { ModelConfig } from "../model/config.ts";
import type { ChosenDevice } from "../runtime/device.ts";
import type { Runtime } from "../runtime/session.ts";
import { localRecognizer } from "./local-recognizer.ts";
import type { ChosenPrecision } from "./precision.ts";
import type { ReadingProfile } from "./reading-profile.ts";
import type { SessionsOptions } from "./sessions.ts";
import type { RecognitionRequest, RecognitionResult, RecognizeOptions } from "./types.ts";
import { cachedWeights } from "./weight-cache.ts";

/** What any recogniser tells of itself, wherever it computes. */
export interface RecognizerIdentity {
  /** Of the checkpoint or, at a server, of its model. */
  readonly name: string;
  readonly profile: ReadingProfile;
}

/** What a recogniser tells that holds a checkpoint itself. */
export interface RecognizerInfo extends RecognizerIdentity {
  readonly dir: string;
  readonly config: ModelConfig;
  readonly processor: ImageProcessorConfig;
  /** The device that computes, and why. */
  readonly device: ChosenDevice;
  /** In how many bits, and why. */
  readonly precision: ChosenPrecision;
}

/** Crops in, texts out. Holds memory until closed; calls at the same time are answered together. */
export interface Recognizer<Info extends RecognizerIdentity = RecognizerInfo> extends AsyncDisposable {
  readonly info: Info;
  recognize(requests: readonly RecognitionRequest[], options?: RecognizeOptions): Promise<RecognitionResult[]>;
  close(): Promise<void>;
}

/** Loads a checkpoint folder on a runtime. Errors as `openCheckpoint` and `loadSessions`. */
export async function loadRecognizer(dir: string, runtime: Runtime, options?: SessionsOptions): Promise<Recognizer> {
  return localRecognizer(await openCheckpoint(dir), runtime, cachedWeights, options);
}
