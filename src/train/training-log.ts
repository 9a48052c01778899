/**
 * The log of a run as it counts: of a run that was killed and did steps again, the later lines stand. It refuses to know how lines are shown.
 */
import { MineruError } from "../error.ts";
import type { StepReport } from "./step-tally.ts";
import type { EvaluationReport } from "./training-evaluation.ts";

/** As it was written; logs of early runs lack the losses of tasks. */
export type LoggedStep = Omit<StepReport, "taskLosses"> & { readonly time: string; readonly taskLosses?: StepReport["taskLosses"] };
export type LoggedEvaluation = EvaluationReport & { readonly time: string };

export interface TrainingLog {
  /** In the order of their steps. */
  readonly steps: readonly LoggedStep[];
  readonly evaluations: readonly LoggedEvaluation[];
}

/**
 * Reads JSON lines. Half a line where a run was killed is passed over; anything else that is no line is refused.
 * @throws MineruError `data-invalid` naming `label` and the line
 */
export function parseTrainingLog(text: string, label: string): TrainingLog {
  const steps: LoggedStep[] = [];
  const evaluations: LoggedEvaluation[] = [];
  const lines = text.split("\n");
  lines.forEach((line, i) => {
    if (line === "") return;
    let entry: (LoggedStep & { kind?: undefined }) | LoggedEvaluation;
    try {
      entry = JSON.parse(line);
    } catch (cause) {
      if (line.startsWith("{") && !line.endsWith("}")) return;
      throw new MineruError("data-invalid", `${label}:${i + 1}: expected a JSON object, got ${line.slice(0, 60)}`, { cause });
    }
    if (!Number.isInteger(entry?.step)) throw new MineruError("data-invalid", `${label}:${i + 1}: expected an object with a \`step\``);
    if (entry.kind === "evaluation") {
      evaluations.push(entry);
      return;
    }
    while ((steps.at(-1)?.step ?? 0) >= entry.step) steps.pop();
    while ((evaluations.at(-1)?.step ?? 0) >= entry.step) evaluations.pop();
    steps.push(entry);
  });
  return { steps, evaluations };
}

/** Where stages begin: name and first step, in order. */
export function stagesOf(steps: readonly LoggedStep[]): { readonly name: string; readonly from: number }[] {
  return steps.flatMap(({ stage, step }, i) => (i === 0 || steps[i - 1].stage !== stage ? [{ name: stage, from: step }] : []));
}
