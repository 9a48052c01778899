/**
 * Shows how a line of print crystallises: after every denoising step, what is committed and what is still a mask (·). Then replays the decode
 * from its recording, without the model.
 *
 *   npx tsx examples/watch-denoising.ts line.png
 */
import { readFile } from "node:fs/promises";
import { decodeImage, load, recognitionEvents, replay } from "mineru-diffusion";

const [file = "test/samples/testocr.png"] = process.argv.slice(2);

await using parser = await load();
const image = await decodeImage(await readFile(file));
const request = { task: "text", image, decoding: { blockLength: 8, rule: { threshold: 0.8 }, record: { candidates: 2 } } } as const;

const blocks = new Map<string, string[]>();
for await (const event of recognitionEvents(parser, [request])) {
  if (event.kind === "result") {
    const { text, steps, forwards, lines = [event.result] } = event.result;
    console.log(`\n${text}\n\n${steps} steps, ${forwards} forward passes`);
    const recording = lines[0].recording;
    if (recording) console.log(`replayed: ${replay(recording).steps} steps of the first line`);
  }
  if (event.kind !== "step") continue;
  const { line = 0, record, texts } = event;
  const block = `line ${line + 1}, block ${record.block + 1}`;
  const shown = blocks.get(block) ?? Array(8).fill("·");
  record.positions.forEach((position, i) => {
    shown[position % 8] = texts[i] === "" ? " " : texts[i];
  });
  blocks.set(block, shown);
  console.log(`${block.padEnd(18)} step ${String(record.step).padStart(3)}  ${shown.join("")}`);
}
