/**
 * Reads a document and prints it as Markdown.
 *
 *   npx tsx examples/read-page.ts paper.pdf
 */
import { assemble, load, type ParsedPage, writeMarkdown } from "mineru-diffusion";

const [file = "test/samples/testocr.png"] = process.argv.slice(2);

await using parser = await load();
const pages: ParsedPage[] = [];
for await (const { page } of parser.parse(file, { signal: AbortSignal.timeout(600_000) })) pages.push(page);
const { printedLineBreaks } = parser.recognizer.info.profile;
console.log(writeMarkdown(assemble(pages, { unwrap: printedLineBreaks })));
