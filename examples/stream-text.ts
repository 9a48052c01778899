/**
 * Prints the text of a document while it is read: each piece as soon as it can no longer change, the rest still being denoised.
 *
 *   npx tsx examples/stream-text.ts page.png
 */
import { documentEvents, load } from "mineru-diffusion";

const [file = "test/samples/testocr.png"] = process.argv.slice(2);

await using parser = await load();
for await (const event of documentEvents(parser, file)) {
  if (event.kind === "layout") console.error(`${event.regions.length} regions`);
  // Regions are read side by side, so their pieces come in turn.
  else if (event.kind === "text") console.log(`region ${event.region + 1}: ${JSON.stringify(event.text)}`);
  else console.error(`page ${event.page.page.index + 1} is read`);
}
