/**
 * The far end of a sample stream: a worker thread that opens its own engines and makes one batch for each index it is
 * sent. It makes nothing unasked, so the near end's requests are the back-pressure. Pixels travel by transfer.
 */
import { parentPort, workerData } from "node:worker_threads";
import { openSynth } from "./index.ts";
import { makeBatch, type SampleRecipe } from "./recipe.ts";

const port = parentPort;
if (!port) throw new Error("internal: the stream worker was loaded outside a worker thread");

const { seed, recipe } = workerData as { readonly seed: number; readonly recipe: SampleRecipe };
const opened = openSynth(recipe.sources);
// A failure to open is reported with the first request; until then it must not end the thread.
opened.catch(() => undefined);

port.on("message", async (index: number) => {
  try {
    const samples = makeBatch(await opened, recipe, seed, index);
    const buffers = [...new Set(samples.map((sample) => sample.image.data.buffer as ArrayBuffer))];
    port.postMessage({ index, samples }, buffers);
  } catch (error) {
    port.postMessage({ index, error });
  }
});
