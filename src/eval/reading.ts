/**
 * Items to answers by a recogniser: pages one after the other, crops several side by side. What cannot be opened or read becomes an empty
 * answer with its reason, so that one damaged file does not end a long run. Refuses to know truths and scores.
 */
import { writeMarkdown } from "../document/assembly/markdown.ts";
import { assemble } from "../document/assembly.ts";
import { parseFormula } from "../document/formula.ts";
import { parseOtsl } from "../document/otsl.ts";
import { type PageParse, parsePage } from "../document/parse.ts";
import { tableToHtml } from "../document/table-html.ts";
import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import type { DecodingOptions, RecognitionResult } from "../engine/types.ts";
import { MineruError } from "../error.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import type { EvalItem, ItemReading } from "./benchmark.ts";
import type { Prediction } from "./predictions.ts";

export interface ReadOptions {
  readonly decoding?: DecodingOptions;
  /** Regions decoded side by side. Default 8. */
  readonly batchSize?: number;
  readonly signal?: AbortSignal;
}

type AnyRecognizer = Recognizer<RecognizerIdentity>;

const meanConfidence = (results: readonly RecognitionResult[]): number | null => {
  const confidences = results.flatMap(({ tokens }) => tokens.map(({ confidence }) => confidence));
  return confidences.length > 0 ? confidences.reduce((sum, value) => sum + value, 0) / confidences.length : null;
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function factsOf(results: readonly RecognitionResult[], milliseconds: number): NonNullable<Prediction["facts"]> {
  return {
    confidence: meanConfidence(results),
    milliseconds,
    tokens: sum(results.map(({ tokens }) => tokens.length)),
    forwards: sum(results.map(({ forwards }) => forwards)),
  };
}

/** A crop's answer in the language of the benchmarks: text, an HTML table, or LaTeX without delimiters. */
function cropText(task: Extract<ItemReading, { kind: "crop" }>["task"], { text }: RecognitionResult): string {
  if (task === "table") return tableToHtml(parseOtsl(text));
  return task === "formula" ? parseFormula(text).latex : text;
}

/** Reads pages as one document. */
export async function readPages(
  pages: Iterable<RgbImage> | AsyncIterable<RgbImage>,
  reading: Extract<ItemReading, { kind: "page" }>,
  recognizer: AnyRecognizer,
  { decoding, batchSize, signal }: ReadOptions = {},
): Promise<Prediction> {
  const began = performance.now();
  const results: RecognitionResult[] = [];
  const parsed: PageParse["page"][] = [];
  for await (const image of pages) {
    signal?.throwIfAborted();
    const { page } = await parsePage(image, parsed.length, recognizer, {
      decoding,
      batchSize,
      signal,
      layout: reading.layout?.(image),
      onEvent: (event) => {
        if (event.kind === "recognition" && event.event.kind === "result") results.push(event.event.result);
      },
    });
    parsed.push(page);
  }
  const text = writeMarkdown(assemble(parsed, { unwrap: recognizer.info.profile.printedLineBreaks }));
  return { text, facts: factsOf(results, performance.now() - began) };
}

const failed = (error: unknown): Prediction => {
  if (!(error instanceof MineruError)) throw error;
  return { text: "", facts: { confidence: null, milliseconds: 0, tokens: 0, forwards: 0, failure: error.message } };
};

async function firstPicture(item: EvalItem): Promise<RgbImage> {
  for await (const image of item.pictures()) return image;
  throw new MineruError("data-invalid", `${item.id} expected a picture, got none; fetch the data again`);
}

/** Crops that share the pictures' memory and the recogniser's passes. */
async function* readCrops(
  items: readonly EvalItem[],
  recognizer: AnyRecognizer,
  options: ReadOptions,
): AsyncGenerator<[string, Prediction]> {
  const { decoding, batchSize = 8, signal } = options;
  for (let start = 0; start < items.length; start += 4 * batchSize) {
    const group = items.slice(start, start + 4 * batchSize);
    const opened: { readonly item: EvalItem; readonly image: RgbImage }[] = [];
    for (const item of group) {
      try {
        opened.push({ item, image: await firstPicture(item) });
      } catch (error) {
        yield [item.id, failed(error)];
      }
    }
    const tasks = opened.map(({ item }) => (item.reading as Extract<ItemReading, { kind: "crop" }>).task);
    const results = await recognizer.recognize(
      opened.map(({ image }, i) => ({ task: tasks[i], image, decoding })),
      { batchSize, signal },
    );
    for (const [i, result] of results.entries())
      yield [opened[i].item.id, { text: cropText(tasks[i], result), facts: factsOf([result], result.milliseconds) }];
  }
}

/**
 * Reads all items and gives each answer as it comes, pages first.
 * @throws the signal's reason when it is aborted
 */
export async function* readItems(
  items: readonly EvalItem[],
  recognizer: AnyRecognizer,
  options: ReadOptions = {},
): AsyncGenerator<[id: string, Prediction]> {
  for (const item of items) {
    if (item.reading.kind !== "page") continue;
    options.signal?.throwIfAborted();
    try {
      yield [item.id, await readPages(item.pictures(), item.reading, recognizer, options)];
    } catch (error) {
      yield [item.id, failed(error)];
    }
  }
  yield* readCrops(
    items.filter(({ reading }) => reading.kind === "crop"),
    recognizer,
    options,
  );
}
