/**
 * Training on one's own pictures: `import { trainOnData } from "mineru-diffusion/train"`. An entry beside `index.ts`, so that those who only
 * read pages load no training graphs.
 */
export type { Scores } from "./train/answer-scores.ts";
export { type OwnDataOptions, type OwnDataResult, type TaskScores, trainOnData } from "./train/own-data.ts";
export { type OwnSample, readOwnSamples } from "./train/own-samples.ts";
export type { StepReport } from "./train/step-tally.ts";
