/**
 * Evaluation: `import { evaluate, openBenchmark } from "mineru-diffusion/eval"`. A second entry beside `index.ts`, so that those who only
 * read pages load no metrics and no typesetter.
 */
export type { Benchmark, BenchmarkOptions, EvalItem, Judgement, Score, ScoredCase, ScoreGroup } from "./eval/benchmark.ts";
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
export type { MetricMode } from "./metrics/mode.ts";
