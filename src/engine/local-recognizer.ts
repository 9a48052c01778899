/**
 * The recogniser that computes here: requests become questions, questions are decoded several at a time, each region at its own step;
 * results come in the order of the requests, events as they happen. Calls at the same time share forward passes. Where the checkpoint lies and what runtime computes is not known here.
 */
import type { Checkpoint } from "../checkpoint/checkpoint.ts";
import type { CommitRuleOptions } from "../diffusion/commit-rules.ts";
import type { Recording } from "../diffusion/replay.ts";
import { resizeByNeed } from "../image/crops.ts";
import { withEvenLight } from "../image/even-light.ts";
import { fitFormula } from "../image/fit-formula.ts";
import { fitTable } from "../image/fit-table.ts";
import { linePictures } from "../image/line-pictures.ts";
import { patchify } from "../image/patches.ts";
import { parseProcessorConfig } from "../image/processor-config.ts";
import { resizeBicubic } from "../image/resample.ts";
import { crop, type RgbImage } from "../image/rgb-image.ts";
import { tableCells } from "../image/white-space/table-cells.ts";
import type { Runtime } from "../runtime/session.ts";
import { loadChatTemplate } from "../text/chat-template.ts";
import { createPromptEncoder, type PromptEncoder } from "../text/prompt-encoder.ts";
import { type TaskName, tasks } from "../text/prompts.ts";
import { loadTokenizer, type Tokenizer } from "../text/tokenizer.ts";
import { encodeImage } from "./engine.ts";
import { cellQuestions, joinLines, lineQuestions, type Question } from "./lines.ts";
import type { PackWeights } from "./packed-tensors.ts";
import { parseReadingProfile } from "./reading-profile.ts";
import type { Recognizer, RecognizerInfo } from "./recognizer.ts";
import { Sequence } from "./sequence.ts";
import { loadSessions, type ModelSessions, type SessionsOptions } from "./sessions.ts";
import { SharedBatch } from "./shared-batch.ts";
import type { DecodingOptions, RecognitionRequest, RecognitionResult, RecognizeOptions, TokenRecord } from "./types.ts";

const DEFAULT_BLOCK_LENGTH = 32;
const DEFAULT_BATCH_SIZE = 8;

class LocalRecognizer implements Recognizer {
  readonly info: RecognizerInfo;
  readonly #checkpoint: Checkpoint;
  readonly #sessions: ModelSessions;
  readonly #tokenizer: Tokenizer;
  readonly #prompt: PromptEncoder;
  readonly #forbidden: readonly number[];
  /** Ends the answer about one printed line. */
  readonly #lineBreak: number;
  readonly #batches = new Map<number, SharedBatch>();

  constructor(checkpoint: Checkpoint, sessions: ModelSessions) {
    const { config, tokenizerFiles } = checkpoint;
    this.#checkpoint = checkpoint;
    this.#sessions = sessions;
    this.info = {
      name: checkpoint.dir.split(/[\\/]/).at(-1)!,
      dir: checkpoint.dir,
      config,
      processor: parseProcessorConfig(checkpoint.preprocessor),
      profile: parseReadingProfile(checkpoint.preprocessor),
      device: sessions.device,
      precision: sessions.precision,
    };
    this.#tokenizer = loadTokenizer(tokenizerFiles);
    this.#prompt = createPromptEncoder(this.#tokenizer, loadChatTemplate(tokenizerFiles), config.imageTokenId);
    this.#forbidden = [config.maskTokenId];
    this.#lineBreak = this.#tokenizer.encode("\n")[0];
  }

  async recognize(requests: readonly RecognitionRequest[], options: RecognizeOptions = {}): Promise<RecognitionResult[]> {
    const { signal, batchSize = DEFAULT_BATCH_SIZE, onEvent } = options;
    const questions = requests.flatMap((request, i) => this.#questions(request, i));
    const answers = new Array<RecognitionResult>(questions.length);
    const open = requests.map((_, i) => questions.filter(({ request }) => request === i).length);
    const results = new Array<RecognitionResult>(requests.length);
    const settle = (index: number, answer: RecognitionResult): void => {
      const { request, line, opening = "", joint } = questions[index];
      answers[index] = answer;
      if (line !== undefined) onEvent?.({ kind: "line", request, line, text: opening + answer.text + joint });
      if (--open[request] > 0) return;
      const members = questions.flatMap((question, i) => (question.request === request ? [i] : []));
      const result = joinLines(
        members.map((i) => answers[i]),
        members.map((i) => questions[i]),
        (text) => this.#tokenizer.encode(text).map((token) => ({ token, text: this.#tokenizer.decode([token]) })),
      );
      results[request] = result;
      onEvent?.({ kind: "result", request, result });
    };
    // Sequences that share a pass have rows of one block length, so each length is a batch of its own.
    const groups = groupBy(questions, ({ asked }) => this.#decoder(asked).blockLength);
    for (const [blockLength, members] of groups) {
      const entries = members.map((question) => ({ question, at: 0, seen: 0 }));
      await this.#batch(blockLength).run({
        atOnce: Math.max(1, batchSize),
        signal,
        questions: entries.map((entry) => () => {
          entry.at = performance.now();
          return this.#begin(questions[entry.question].asked);
        }),
        report: (index, sequence) => {
          const entry = entries[index];
          const previous = sequence.decode?.trace.at(-1) ?? sequence.question?.previous;
          if (previous && previous.step > entry.seen) {
            entry.seen = previous.step;
            const { request, line } = questions[entry.question];
            const texts = Array.from(previous.tokens, (token) => this.#tokenizer.decode([token]));
            onEvent?.({ kind: "step", request, ...(line === undefined ? {} : { line }), record: previous, texts });
          }
          if (sequence.decode) settle(entry.question, this.#result(sequence, performance.now() - entry.at));
        },
      });
    }
    return results;
  }

  async close(): Promise<void> {
    await this.#sessions[Symbol.asyncDispose]();
    await this.#checkpoint.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Calls at the same time share passes. */
  #batch(blockLength: number): SharedBatch {
    const batch = this.#batches.get(blockLength) ?? new SharedBatch(this.info.config, this.#sessions);
    this.#batches.set(blockLength, batch);
    return batch;
  }

  #questions(asked: RecognitionRequest, request: number): Question[] {
    const { task } = asked;
    const { linePixels, readsTables } = this.info.profile;
    const whole: Question[] = [{ request, joint: "", asked }];
    if (linePixels === null || !asked.image || asked.promptIds) return whole;
    // Ink is told from paper by one brightness for all of a line.
    const image = withEvenLight(asked.image);
    const { patchSize, mergeSize } = this.info.processor;
    const pictures = (picture: RgbImage) => linePictures(picture, linePixels, patchSize * mergeSize);
    const stopTokens = [...(asked.decoding?.stopTokens ?? this.#checkpoint.generation.stopTokenIds ?? []), this.#lineBreak];
    const line: RecognitionRequest = { ...asked, decoding: { ...asked.decoding, stopTokens } };
    if (task === "text") return lineQuestions(request, line, pictures(image));
    const cells = task === "table" && !readsTables ? tableCells(image) : null;
    const questions = cells ? cellQuestions(request, line, cells, (print) => pictures(crop(image, print))) : [];
    return questions.length > 0 ? questions : whole;
  }

  /** A page for layout detection becomes a square, whatever its shape; anything else keeps its own, or is fitted to rows of tokens. */
  #patches(task: TaskName, image: RgbImage) {
    const { processor, profile } = this.info;
    if (task !== "layout") return patchify(resizeByNeed(this.#fitted(task, image)), processor);
    const size = profile.layoutSize;
    return patchify(resizeBicubic(image, size, size), { ...processor, maxPixels: Math.max(processor.maxPixels, size * size) });
  }

  /** Lines of text come fitted already. */
  #fitted(task: TaskName, image: RgbImage): RgbImage {
    const { processor, profile } = this.info;
    if (profile.linePixels === null || (task !== "table" && task !== "formula")) return image;
    const fitRegion = task === "table" ? fitTable : fitFormula;
    return fitRegion(image, profile.linePixels, processor.patchSize * processor.mergeSize).image;
  }

  #decoder({ task, decoding = {} }: RecognitionRequest) {
    const { generation, config } = this.#checkpoint;
    const maxTokens = decoding.maxTokens ?? tasks[task].maxAnswerTokens;
    const chosen = decoding.blockLength ?? generation.blockLength ?? config.blockLength ?? DEFAULT_BLOCK_LENGTH;
    return {
      blockLength: chosen === "answer" ? maxTokens : chosen,
      maskToken: config.maskTokenId,
      maxTokens,
      stopTokens: decoding.stopTokens ?? generation.stopTokenIds,
      stepsPerBlock: decoding.stepsPerBlock,
      rule: ruleOf(decoding, generation.threshold),
      stopEarly: !decoding.fillLastBlock,
    };
  }

  async #begin(request: RecognitionRequest): Promise<Sequence> {
    const { config } = this.info;
    const { decoding = {} } = request;
    let features: Float32Array | null = null;
    if (request.image) features = await encodeImage(this.#patches(request.task, request.image), config, this.#sessions);
    const imageTokens = features ? features.length / config.text.hiddenSize : 0;
    const ids = request.promptIds ?? this.#prompt(request.task, imageTokens, request.prompt);
    return new Sequence(
      { ids, features },
      {
        decoder: this.#decoder(request),
        decoding,
        vocabularySize: config.text.vocabSize,
        forbidden: this.#forbidden,
      },
    );
  }

  /** Texts of the tokens that a recording mentions. */
  #textsOf({ answers }: Recording): Record<number, string> {
    const texts: Record<number, string> = {};
    for (const answer of answers) {
      if ("stop" in answer) continue;
      const candidates = answer.candidates?.flat().map(({ token }) => token) ?? [];
      for (const token of [...answer.tokens, ...candidates]) texts[token] ??= this.#tokenizer.decode([token]);
    }
    return texts;
  }

  #result(sequence: Sequence, milliseconds: number): RecognitionResult {
    const decode = sequence.decode!;
    const { ids, features } = sequence.prompt;
    const tokens = Array.from(
      decode.tokens,
      (token, i): TokenRecord => ({
        token,
        text: this.#tokenizer.decode([token]),
        confidence: decode.confidences[i],
        step: decode.stepMap[i],
      }),
    );
    const settled = decode.trace.reduce((sum, { positions }) => sum + positions.length, 0);
    return {
      text: this.#tokenizer.decode(decode.tokens, { skipSpecial: false }),
      tokens,
      ended: decode.ended,
      promptTokens: ids.length,
      imageTokens: features ? features.length / this.info.config.text.hiddenSize : 0,
      steps: decode.steps,
      forwards: sequence.forwards,
      tokensPerForward: sequence.forwards === 0 ? 0 : settled / sequence.forwards,
      stepsOfBlock: decode.stepsOfBlock,
      milliseconds,
      ...(sequence.recording ? { recording: sequence.recording, tokenTexts: this.#textsOf(sequence.recording) } : {}),
    };
  }
}

/** The checkpoint's threshold serves where the caller names neither threshold nor another strategy. */
function ruleOf({ rule }: DecodingOptions, threshold: number | undefined): CommitRuleOptions | undefined {
  const dynamic = (rule?.strategy ?? "low_confidence_dynamic") === "low_confidence_dynamic";
  return dynamic && threshold !== undefined && rule?.threshold === undefined ? { ...rule, threshold } : rule;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => number): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  items.forEach((item, i) => {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), i]);
  });
  return groups;
}

/** A recogniser of an open checkpoint, which it closes with itself, or here if loading fails. Errors as `loadSessions`. */
export async function localRecognizer(
  checkpoint: Checkpoint,
  runtime: Runtime,
  packWeights: PackWeights,
  options?: SessionsOptions,
): Promise<Recognizer> {
  try {
    return new LocalRecognizer(checkpoint, await loadSessions(checkpoint, runtime, packWeights, options));
  } catch (error) {
    await checkpoint.close();
    throw error;
  }
}
