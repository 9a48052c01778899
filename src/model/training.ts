/**
 * The training graphs: the block-diffusion loss (paper section 3.3: cross entropy at masked positions, read at the position itself)
 * with its gradients, and the heads of dense supervision, which read the projector's output directly and are thrown away afterwards.
 * Parameters are inputs here, so one session serves every step.
 */
import { backward } from "../graph/backward.ts";
import * as g from "../graph/ops.ts";
import { multiplyDims } from "../graph/shapes.ts";
import type { Program, Value } from "../graph/value.ts";
import type { ModelConfig } from "./config.ts";
import { decoder } from "./decoder.ts";
import { listParameters, type ModelWeights, modelWeights } from "./parameters.ts";
import { visionInputs } from "./programs.ts";
import { trainingDecoder } from "./training-decoder.ts";
import { projector, visionTower } from "./vision.ts";

/** Extra heads over image tokens that know what the synthetic page shows there. */
export interface DenseSupervision {
  /** Characters whose centre lies in the token, in order; each slot is one classification over the vocabulary. */
  readonly characterSlots: number;
  /** Layout classes, "no region" included. */
  readonly regionClasses: number;
}

export const denseParameterPrefix = "dense.";

export const gradientName = (parameter: string): string => `gradient:${parameter}`;

/** What a training program computes: `tower` trains vision and heads alone (stage 0), `full` the whole model. */
export type TrainingScope = "tower" | "full";

/** Names and shapes of the heads' tensors. */
export function denseParameterShapes(
  config: ModelConfig,
  { characterSlots, regionClasses }: DenseSupervision,
): Map<string, readonly number[]> {
  const { hiddenSize, vocabSize } = config.text;
  return new Map([
    [`${denseParameterPrefix}characters.weight`, [characterSlots * vocabSize, hiddenSize]],
    [`${denseParameterPrefix}regions.weight`, [regionClasses, hiddenSize]],
    [`${denseParameterPrefix}edges.weight`, [4, hiddenSize]],
  ]);
}

const weighted = (losses: Value, weights: Value): Value => g.sumAll(g.mul(losses, weights));

function denseLosses(
  features: Value,
  config: ModelConfig,
  dense: DenseSupervision,
): { losses: Record<string, Value>; heads: Value<"parameter">[] } {
  const tokens = features.shape[0];
  const { vocabSize } = config.text;
  const heads = [...denseParameterShapes(config, dense)].map(([name, shape]) => g.parameter(name, shape));
  const [characters, regions, edges] = heads.map((head) => g.linear(features, head));
  const slots = multiplyDims([tokens, dense.characterSlots]);
  const characterTargets = g.input("characterTargets", "int64", [slots]);
  const edgeError = g.abs(g.sub(edges, g.input("edgeTargets", "float32", [tokens, 4])));
  return {
    heads,
    losses: {
      characterLoss: weighted(
        g.crossEntropy(g.reshape(characters, [slots, vocabSize]), characterTargets),
        g.input("characterWeights", "float32", [slots]),
      ),
      regionLoss: weighted(
        g.crossEntropy(regions, g.input("regionTargets", "int64", [tokens])),
        g.input("regionWeights", "float32", [tokens]),
      ),
      edgeLoss: weighted(g.reduceSum(edgeError, [1]), g.input("edgeWeights", "float32", [tokens, 1])),
    },
  };
}

export interface TrainingProgram {
  readonly program: Program;
  /** Trained parameters, the heads' included. */
  readonly parameters: readonly Value<"parameter">[];
  /** Loss parts among the outputs; `loss` is their sum. */
  readonly losses: readonly string[];
}

/** Sequences `[prompt | clean | noisy …]` as one stream of rows under one mask: ids, image index, rotary tables, additive mask. */
function joinedLogits(features: Value, wanted: Value, { text }: ModelConfig, weights: ModelWeights): Value {
  const tables = ["batch", "rows", text.headDim / 2];
  const inputs = {
    ids: g.input("ids", "int64", ["batch", "rows"]),
    image: { features, index: g.input("imageIndex", "int64", ["batch", "rows"]) },
    cos: g.input("cos", "float32", tables),
    sin: g.input("sin", "float32", tables),
    mask: g.input("mask", "float32", ["batch", 1, "rows", "rows"]),
    wanted,
  };
  return decoder(inputs, text, weights.decoder).logits;
}

/** The same as two streams: what was joined in `ids`, …, `mask` lies apart as prompt with clean answer, and noisy blocks. */
function streamLogits(features: Value, wanted: Value, { text }: ModelConfig, weights: ModelWeights): Value {
  const half = text.headDim / 2;
  const inputs = {
    context: {
      ids: g.input("ids", "int64", ["batch", "rows"]),
      image: { features, index: g.input("imageIndex", "int64", ["batch", "rows"]) },
      cos: g.input("cos", "float32", ["batch", "rows", half]),
      sin: g.input("sin", "float32", ["batch", "rows", half]),
      mask: g.input("mask", "float32", ["batch", 1, "rows", "rows"]),
    },
    noisy: {
      ids: g.input("noisyIds", "int64", ["batch", "blocks", "blockLength"]),
      cos: g.input("noisyCos", "float32", ["batch", "blocks", "blockLength", half]),
      sin: g.input("noisySin", "float32", ["batch", "blocks", "blockLength", half]),
      mask: g.input("noisyMask", "float32", ["batch", 1, "blocks", 1, "rows"]),
    },
    wanted,
  };
  return trainingDecoder(inputs, text, weights.decoder);
}

export interface TrainingOptions {
  readonly scope?: TrainingScope;
  readonly dense?: DenseSupervision;
  /**
   * How sequences come: `joined` (default) is the plain statement of the objective, one stream under one mask; `streams` computes the
   * same without the empty parts of that mask (see `training-decoder.ts`), for sequences of one block length.
   */
  readonly sequences?: "joined" | "streams";
}

/**
 * Images in bins and sequences in bins → `loss`, its parts, and `gradient:<name>` for every parameter.
 * Sequence rows are described by the caller, and so are the flat rows (`wanted`; among the noisy rows if `streams`) whose targets and
 * weights make up `textLoss` = Σ weight · cross entropy.
 */
export function trainingProgram(config: ModelConfig, options: TrainingOptions = {}): TrainingProgram {
  const { scope = "full", dense, sequences = "joined" } = options;
  if (scope === "tower" && !dense) throw new TypeError("scope tower expected dense supervision, got none");
  const weights = modelWeights(config);
  const tower = visionTower(visionInputs(config, { masked: true }), config.vision, weights.vision);
  const features = projector(tower, multiplyDims(["bins", "tokens"]), config.vision, weights.projector);
  const losses: Record<string, Value> = {};
  const trained: unknown[] = [weights.vision, weights.projector];
  const outputs: Record<string, Value> = {};

  if (scope === "full") {
    const logitsOf = sequences === "streams" ? streamLogits : joinedLogits;
    const logits = logitsOf(features, g.input("wanted", "int64", ["wanted"]), config, weights);
    outputs.crossEntropy = g.crossEntropy(logits, g.input("targets", "int64", ["wanted"]));
    losses.textLoss = weighted(outputs.crossEntropy, g.input("weights", "float32", ["wanted"]));
    trained.push(weights.decoder);
  }
  const heads = dense ? denseLosses(features, config, dense) : undefined;
  Object.assign(losses, heads?.losses);

  const parameters = [...trained.flatMap((part) => listParameters(part as typeof weights)), ...(heads?.heads ?? [])];
  const loss = Object.values(losses).reduce((a, b) => g.add(a, b));
  const gradients = backward(loss, parameters);
  Object.assign(outputs, { loss }, losses);
  parameters.forEach((parameter, i) => {
    outputs[gradientName(parameter.attributes.name)] = gradients[i];
  });
  return { program: { name: `train-${scope}`, outputs }, parameters, losses: ["loss", ...Object.keys(losses)] };
}
