/**
 * Evaluation: `import { evaluate, openBenchmark } from "mineru-diffusion/eval"`. A second entry beside `index.ts`, so that those who only
 * read pages load no metrics and no typesetter.
 */
export type { Benchmark, BenchmarkOptions, EvalItem, Judgement, Score, ScoredCase, ScoreGroup } from "./eval/benchmark.ts";
export {
  type BatchRow,
  type DecodedAnswer,
  type DecodingMeasureOptions,
  type DecodingRow,
  type DecodingSample,
  measureBatches,
  measureDecoding,
} from "./eval/decoding.ts";
export { type DecodingMeasurement, decodingMarkdown, measureAllDecoding, tradeOffPlot } from "./eval/decoding-measurement.ts";
export { AUTOREGRESSION, blockDiffusion, type DecodingSetting } from "./eval/decoding-settings.ts";
export {
  type BenchmarkName,
  benchmarkNames,
  type EvaluatedCase,
  type Evaluation,
  type EvaluationOptions,
  type EvaluationProgress,
  evaluate,
  openBenchmark,
} from "./eval/evaluation.ts";
export { evaluationHtml, evaluationJson, evaluationMarkdown, worstCases, writeEvaluation } from "./eval/report.ts";
export { heldOutLines, heldOutSources, pagesIn } from "./eval/samples.ts";
export {
  measureShuffle,
  type ShuffleMeasurement,
  type ShuffleMeasureOptions,
  type ShufflePoint,
  shuffleKinds,
  shuffleMarkdown,
  shufflePlot,
} from "./eval/shuffle.ts";
export type { MetricMode } from "./metrics/mode.ts";
