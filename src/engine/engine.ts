/**
 * Answers the decoder's questions with the model. `step()` is the unit of time: every active sequence moves by one forward pass, each at
 * its own block and step. Exact savings, all equal to the plain order of passes: a prompt is prefilled together with the first step of
 * its first block; alone, a sequence stores a finished block in the same pass that begins the next; in company, storing rows ride along
 * with the others' denoising rows; the head is computed for masked rows only.
 */
import { blockMask } from "../diffusion/block-mask.ts";
import { HIDDEN } from "../diffusion/training-mask.ts";
import type { ModelConfig } from "../model/config.ts";
import { decoderRotary, visionRotary } from "../model/positions.ts";
import { presentName } from "../model/programs.ts";
import { float32, int64, type Tensors } from "../runtime/session.ts";
import { KeyValueCache } from "./key-value-cache.ts";
import type { Sequence } from "./sequence.ts";
import type { ModelSessions } from "./sessions.ts";

/** Patches of one image, as the image room makes them. */
export interface ImagePatches {
  readonly pixelValues: Float32Array; // [patches, patchPixels]
  readonly grid: readonly [1, number, number];
}

/** One image → its features [imageTokens, hiddenSize]. */
export async function encodeImage(
  { pixelValues, grid: [, rows, columns] }: ImagePatches,
  config: ModelConfig,
  sessions: ModelSessions,
): Promise<Float32Array> {
  const { vision } = config;
  const squares = vision.mergeSize ** 2;
  const patches = rows * columns;
  const headDim = vision.embedDim / vision.heads;
  const { cos, sin } = visionRotary(rows, columns, vision.mergeSize, headDim);
  const { features } = await sessions.encodeImage.run(
    {
      pixels: float32(pixelValues, [1, patches / squares, (pixelValues.length / patches) * squares]),
      imageCos: float32(cos, [1, patches, headDim / 2]),
      imageSin: float32(sin, [1, patches, headDim / 2]),
    },
    ["features"],
  );
  return features.data as Float32Array;
}

/** Rows of one forward pass for one sequence. */
interface Rows {
  readonly ids: Int32Array;
  readonly imageIndex?: Int32Array;
  /** Position of the first row. */
  readonly start: number;
  /** 1 where row sees column of these rows: [rows, rows]; all of them if absent. */
  readonly mask?: Uint8Array;
  /** Rows whose logits are wanted. */
  readonly wanted: Int32Array;
  /** Rows, from the first, whose keys and values are to be stored. */
  readonly stored: number;
}

function concatenate(...parts: readonly Int32Array[]): Int32Array {
  const joined = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

const shifted = (indices: Int32Array, by: number): Int32Array => indices.map((index) => index + by);

export class Engine {
  readonly #config: ModelConfig;
  readonly #sessions: ModelSessions;
  readonly #cache: KeyValueCache;
  #slots: (Sequence | null)[];
  /** Per slot: whether the block before the open question is in the cache. */
  #stored: boolean[];
  readonly #presentNames: readonly string[];

  constructor(config: ModelConfig, sessions: ModelSessions, slots: number) {
    this.#config = config;
    this.#sessions = sessions;
    this.#cache = new KeyValueCache(config.text, slots);
    this.#slots = Array<Sequence | null>(slots).fill(null);
    this.#stored = Array<boolean>(slots).fill(true);
    this.#presentNames = Array.from({ length: config.text.layers }, (_, i) => [presentName("key", i), presentName("value", i)]).flat();
  }

  get active(): readonly Sequence[] {
    return this.#slots.filter((sequence) => sequence !== null);
  }

  /** Sequences that can be active at once. Idle places cost as much as busy ones. */
  get places(): number {
    return this.#slots.length;
  }

  get hasRoom(): boolean {
    return this.#slots.includes(null);
  }

  /** Makes room, or gives it up; active sequences stay, at other places. */
  resize(places: number): void {
    const kept = this.#slots.map((_, slot) => slot).filter((slot) => this.#slots[slot] !== null);
    if (places < kept.length) throw new Error(`internal: ${kept.length} active sequences do not fit into ${places} places`);
    const from = Array.from({ length: places }, (_, i) => kept[i] ?? null);
    this.#slots = from.map((slot) => (slot === null ? null : this.#slots[slot]));
    this.#stored = from.map((slot) => (slot === null ? true : this.#stored[slot]));
    this.#cache.rearrange(from);
  }

  /** Prefills a sequence into a free slot and answers its first question. */
  async add(sequence: Sequence): Promise<void> {
    const slot = this.#slots.indexOf(null);
    if (slot < 0) throw new Error("internal: no free slot");
    const question = sequence.question!;
    const { ids, features } = sequence.prompt;
    const blockLength = question.canvas.length;
    const imageIndex = new Int32Array(ids.length + blockLength).fill(-1);
    let image = 0;
    for (let i = 0; i < ids.length; i++) if (features && ids[i] === this.#config.imageTokenId) imageIndex[i] = image++;
    const rows: Rows = {
      ids: concatenate(ids, question.canvas),
      imageIndex,
      start: 0,
      mask: blockMask(ids.length, blockLength, blockLength),
      wanted: shifted(question.masked, ids.length),
      stored: ids.length,
    };
    // ONNX Runtime 1.30 breaks down under WebGPU when it multiplies along an axis of length 0.
    const columns = this.#sessions.device.device === "webgpu" ? 1 : 0;
    const outputs = await this.#run([rows], KeyValueCache.empty(this.#config.text, columns), [0], columns, features);
    this.#cache.free(slot);
    this.#cache.append(slot, outputs, 0, ids.length);
    this.#slots[slot] = sequence;
    this.#stored[slot] = true;
    sequence.forwards++;
    this.#settle(slot, outputs.logits.data as Float32Array);
  }

  /** One forward pass for every active sequence. */
  async step(): Promise<void> {
    const occupied = this.#slots.map((_, slot) => slot).filter((slot) => this.#slots[slot] !== null);
    if (occupied.length === 0) return;
    const alone = this.#slots.length === 1;
    const work = this.#slots.map((sequence, slot) => (sequence ? this.#rowsOf(sequence, this.#stored[slot], alone) : null));
    const length = Math.max(...work.map((rows) => rows?.ids.length ?? 0));
    const idle: Rows = { ids: new Int32Array(length), start: 0, wanted: new Int32Array(0), stored: 0 };
    const outputs = await this.#run(
      work.map((rows) => rows ?? idle),
      this.#cache.feeds(),
      this.#cache.lengths,
      this.#cache.capacity,
      null,
    );
    const vocabulary = this.#config.text.vocabSize;
    let row = 0;
    for (const slot of occupied) {
      const { stored, wanted } = work[slot]!;
      const sequence = this.#slots[slot]!;
      sequence.forwards++;
      if (stored > 0) {
        this.#cache.append(slot, outputs, slot, stored);
        this.#stored[slot] = true;
      }
      const logits = (outputs.logits.data as Float32Array).subarray(row * vocabulary, (row + wanted.length) * vocabulary);
      row += wanted.length;
      if (wanted.length > 0) this.#settle(slot, logits);
    }
  }

  /** Frees the slot of a sequence that is done or given up. */
  remove(sequence: Sequence): void {
    const slot = this.#slots.indexOf(sequence);
    if (slot < 0) return;
    this.#slots[slot] = null;
    this.#cache.free(slot);
  }

  #settle(slot: number, logits: Float32Array): void {
    const sequence = this.#slots[slot]!;
    sequence.answer(logits);
    if (sequence.question?.settled) this.#stored[slot] = false;
  }

  #rowsOf(sequence: Sequence, stored: boolean, alone: boolean): Rows {
    const { canvas, masked, settled, position } = sequence.question!;
    const start = sequence.prompt.ids.length + position;
    if (stored || !settled) return { ids: canvas, start, wanted: masked, stored: 0 };
    if (!alone) return { ids: settled, start: start - settled.length, wanted: new Int32Array(0), stored: settled.length };
    return {
      ids: concatenate(settled, canvas),
      start: start - settled.length,
      mask: blockMask(0, settled.length + canvas.length, canvas.length),
      wanted: shifted(masked, settled.length),
      stored: settled.length,
    };
  }

  async #run(
    work: readonly Rows[],
    past: Tensors,
    lengths: ArrayLike<number>,
    capacity: number,
    features: Float32Array | null,
  ): Promise<Tensors> {
    const { text } = this.#config;
    const batch = work.length;
    const rows = Math.max(...work.map(({ ids }) => ids.length));
    const columns = capacity + rows;
    const ids = new Int32Array(batch * rows);
    const imageIndex = new Int32Array(batch * rows).fill(-1);
    const positions = new Int32Array(batch * rows);
    const mask = new Float32Array(batch * rows * columns).fill(HIDDEN);
    const wanted: number[] = [];
    work.forEach((part, i) => {
      const count = part.ids.length;
      ids.set(part.ids, i * rows);
      if (part.imageIndex) imageIndex.set(part.imageIndex, i * rows);
      for (const row of part.wanted) wanted.push(i * rows + row);
      for (let row = 0; row < rows; row++) {
        positions[i * rows + row] = part.start + row;
        const at = (i * rows + row) * columns;
        mask.fill(0, at, at + lengths[i]);
        if (row >= count) mask[at + capacity + row] = 0;
        else if (!part.mask) mask.fill(0, at + capacity, at + capacity + count);
        else for (let column = 0; column < count; column++) if (part.mask[row * count + column]) mask[at + capacity + column] = 0;
      }
    });
    const half = text.headDim / 2;
    const { cos, sin } = decoderRotary(positions, text.headDim, text.ropeTheta);
    const image = features ?? new Float32Array(text.hiddenSize);
    // A pass that only stores still names one row, since an empty selection is not worth a special program.
    const selected = wanted.length > 0 ? wanted : [0];
    const stores = work.some(({ stored }) => stored > 0);
    return this.#sessions.decode.run(
      {
        ...past,
        ids: int64(ids, [batch, rows]),
        imageFeatures: float32(image, [image.length / text.hiddenSize, text.hiddenSize]),
        imageIndex: int64(imageIndex, [batch, rows]),
        cos: float32(cos, [batch, rows, half]),
        sin: float32(sin, [batch, rows, half]),
        mask: float32(mask, [batch, 1, rows, columns]),
        wanted: int64(selected),
      },
      stores ? ["logits", ...this.#presentNames] : ["logits"],
    );
  }
}
