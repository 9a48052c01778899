/**
 * The optimiser as a graph: global-norm clipping, AdamW for vectors, tables and heads, and Muon for the matrices inside the blocks
 * (momentum 0.95, Nesterov, five Newton–Schulz steps towards the nearest orthogonal matrix, scaled by 0.2·√max(rows, columns) so that
 * AdamW's learning rate serves both). Parameters, moments and gradients go in; parameters and moments come out.
 */
import * as g from "../graph/ops.ts";
import type { Program, Value } from "../graph/value.ts";
import { gradientName } from "../model/training.ts";

export interface OptimizerConfig {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  /** Gradients are scaled by min(1, maxNorm / (norm + 1e-6)). */
  readonly maxNorm: number;
  readonly muonMomentum: number;
}

export const defaultOptimizer: OptimizerConfig = {
  beta1: 0.9,
  beta2: 0.95,
  epsilon: 1e-8,
  weightDecay: 0.01,
  maxNorm: 1,
  muonMomentum: 0.95,
};

export type OptimizerRule = "adamw" | "muon";

/** Muon takes the matrices between two hidden spaces; everything that touches pixels, tokens or single channels stays with AdamW. */
export function defaultRule(name: string, shape: readonly number[]): OptimizerRule {
  const inBlock = /\.(blocks|layers)\.\d+\./.test(name) || /projection\.mlp\.\d+\.weight$/.test(name);
  return inBlock && shape.length === 2 ? "muon" : "adamw";
}

/** Names of the moments a parameter keeps: AdamW two, Muon one. */
export function momentNames(name: string, rule: OptimizerRule): string[] {
  return rule === "adamw" ? [`first:${name}`, `second:${name}`] : [`first:${name}`];
}

export const updatedName = (name: string): string => `updated:${name}`;

/** Coefficients of the quintic iteration (Keller Jordan's Muon). */
const NEWTON_SCHULZ = { a: 3.4445, b: -4.775, c: 2.0315, steps: 5 };

/** The nearest orthogonal matrix, roughly: singular values of `x` [rows, columns] move to about 1. */
export function orthogonalise(x: Value): Value {
  const [rows, columns] = x.shape as readonly number[];
  const tall = rows > columns;
  const wide = tall ? g.transpose(x, [1, 0]) : x;
  let y = g.div(wide, g.add(g.sqrt(g.sumAll(g.mul(wide, wide))), 1e-7));
  for (let i = 0; i < NEWTON_SCHULZ.steps; i++) {
    const gram = g.matmul(y, y, { transposeB: true });
    const polynomial = g.add(g.mul(gram, NEWTON_SCHULZ.b), g.mul(g.matmul(gram, gram), NEWTON_SCHULZ.c));
    y = g.add(g.mul(y, NEWTON_SCHULZ.a), g.matmul(polynomial, y));
  }
  return tall ? g.transpose(y, [1, 0]) : y;
}

/** A joined q/k/v matrix is three maps; each is made orthogonal by itself. */
function muonDirection(name: string, update: Value): Value {
  const [rows, columns] = update.shape as readonly number[];
  const parts = name.endsWith(".qkv.weight") ? 3 : 1;
  const each = rows / parts;
  const directions = Array.from({ length: parts }, (_, i) => orthogonalise(parts === 1 ? update : g.slice(update, 0, i * each, each)));
  const scale = 0.2 * Math.sqrt(Math.max(each, columns));
  return g.mul(parts === 1 ? directions[0] : g.concat(directions, 0), scale);
}

export interface OptimizedParameter {
  readonly name: string;
  readonly shape: readonly number[];
  readonly rule: OptimizerRule;
  /** Multiplies the learning rate, as for the vision tower. */
  readonly rateScale?: number;
  readonly decays?: boolean;
}

/**
 * One step. Inputs: `learningRate`, `correction1` = 1 − β1^t, `correction2` = 1 − β2^t, `gradientScale` (1 / accumulated batches), and
 * per parameter itself, its gradient and its moments. Outputs: `updated:<name>`, `updated:first:<name>`, …, and `gradientNorm`.
 */
export function optimizerProgram(parameters: readonly OptimizedParameter[], config: OptimizerConfig): Program {
  const learningRate = g.input("learningRate", "float32", []);
  const correction1 = g.input("correction1", "float32", []);
  const correction2 = g.input("correction2", "float32", []);
  const gradientScale = g.input("gradientScale", "float32", []);
  const gradients = parameters.map(({ name, shape }) => g.mul(g.input(gradientName(name), "float32", shape), gradientScale));
  const squares = gradients.map((gradient) => g.sumAll(g.mul(gradient, gradient))).reduce((a, b) => g.add(a, b));
  const gradientNorm = g.sqrt(squares);
  const clip = g.minimum(g.div(g.scalar(config.maxNorm), g.add(gradientNorm, 1e-6)), 1);
  const outputs: Record<string, Value> = { gradientNorm };

  parameters.forEach(({ name, shape, rule, rateScale = 1, decays = true }, i) => {
    const parameter = g.input(name, "float32", shape);
    const moments = momentNames(name, rule).map((moment) => g.input(moment, "float32", shape));
    const gradient = g.mul(gradients[i], clip);
    const rate = rateScale === 1 ? learningRate : g.mul(learningRate, rateScale);
    const decayed = decays && config.weightDecay > 0 ? g.mul(parameter, g.sub(g.scalar(1), g.mul(rate, config.weightDecay))) : parameter;
    let direction: Value;
    let updatedMoments: Value[];
    if (rule === "adamw") {
      const first = g.add(g.mul(moments[0], config.beta1), g.mul(gradient, 1 - config.beta1));
      const second = g.add(g.mul(moments[1], config.beta2), g.mul(g.mul(gradient, gradient), 1 - config.beta2));
      direction = g.div(g.div(first, correction1), g.add(g.sqrt(g.div(second, correction2)), config.epsilon));
      updatedMoments = [first, second];
    } else {
      const momentum = g.add(g.mul(moments[0], config.muonMomentum), gradient);
      direction = muonDirection(name, g.add(gradient, g.mul(momentum, config.muonMomentum)));
      updatedMoments = [momentum];
    }
    outputs[updatedName(name)] = g.sub(decayed, g.mul(direction, rate));
    momentNames(name, rule).forEach((moment, j) => {
      outputs[updatedName(moment)] = updatedMoments[j];
    });
  });
  return { name: "optimizer", outputs };
}
