/** `recognize`: one picture, one answer. */
import { decodeImage, load, type RecognitionEvent, type TaskName } from "../index.ts";
import { type DecodingFlags, decodingOf, loadOptionsOf, type ModelFlags } from "./arguments.ts";
import { readInput } from "./input.ts";

export interface RecognizeFlags extends DecodingFlags, ModelFlags {
  readonly task: TaskName;
  readonly prompt?: string;
  readonly json?: boolean;
  readonly trace?: boolean;
}

function traceLine(event: RecognitionEvent): void {
  if (event.kind !== "step") return;
  const { step, block, masked, positions } = event.record;
  process.stderr.write(`step ${step}  block ${block}  ${positions.length} of ${masked} masked positions committed\n`);
}

export async function recognizeCommand(path: string, flags: RecognizeFlags, signal: AbortSignal): Promise<number> {
  const image = await decodeImage(await readInput(path));
  await using parser = await load(loadOptionsOf(flags));
  const [result] = await parser.recognize([{ task: flags.task, image, prompt: flags.prompt, decoding: decodingOf(flags) }], {
    signal,
    onEvent: flags.trace ? traceLine : undefined,
  });
  process.stdout.write(flags.json ? `${JSON.stringify(result, null, 2)}\n` : `${result.text}\n`);
  if (result.ended === "length")
    process.stderr.write("mineru-diffusion: the answer reached its token limit and may be incomplete (--max-tokens)\n");
  return 0;
}
