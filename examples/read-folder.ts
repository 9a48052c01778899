/**
 * Reads every PDF and picture of a folder, several at once: regions of all of them share the model's forward passes.
 *
 *   npx tsx examples/read-folder.ts scans/
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { load, MineruError } from "mineru-diffusion";

const [folder = "test/samples"] = process.argv.slice(2);
const files = (await readdir(folder)).filter((name) => /\.(pdf|png|jpe?g|tiff?)$/i.test(name));

// Pages are rendered in a thread too, so that this one has nothing to do but wait.
await using parser = await load({ thread: "pages" });
await Promise.all(
  files.map(async (name) => {
    try {
      for await (const { page } of parser.parse(join(folder, name))) {
        const texts = page.regions.flatMap(({ content }) => (content.kind === "text" ? [content.text] : []));
        console.log(`${name} page ${page.index + 1}: ${page.regions.length} regions, ${texts.join(" ").length} characters`);
      }
    } catch (error) {
      if (!(error instanceof MineruError)) throw error;
      console.log(`${name}: ${error.code}: ${error.message}`);
    }
  }),
);
