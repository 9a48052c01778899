/** What can be done with a loaded model: documents in, pages out. The same wherever the model computes. */
import type { Recognizer, RecognizerIdentity } from "../engine/recognizer.ts";
import type { RecognitionRequest, RecognitionResult, RecognizeOptions } from "../engine/types.ts";
import { decodeImage } from "../image/decode-image.ts";
import { encodePng } from "../image/encode-png.ts";
import type { RgbImage } from "../image/rgb-image.ts";
import { type DocumentInput, type DocumentPage, type ParseOptions, parseDocument } from "./parser.ts";

/** A loaded model and what can be done with it. Holds memory until closed. */
export interface Parser extends AsyncDisposable {
  readonly recognizer: Recognizer<RecognizerIdentity>;
  /** Pages of a document, as they are read. */
  parse(input: DocumentInput, options?: ParseOptions): AsyncGenerator<DocumentPage, void, undefined>;
  /** Single regions: crops in, texts out. */
  recognize(requests: readonly RecognitionRequest[], options?: RecognizeOptions): Promise<RecognitionResult[]>;
  /** A picture file to pixels, where this parser's pages are made. */
  decodeImage(bytes: Uint8Array): Promise<RgbImage>;
  /** Pixels to a PNG file, likewise. */
  encodePng(image: RgbImage): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** A parser that asks `recognizer`, whatever it is, and closes it when it is closed. */
export function parserOf(recognizer: Recognizer<RecognizerIdentity>): Parser {
  return {
    recognizer,
    parse: (input, options) => parseDocument(input, recognizer, options),
    recognize: (requests, options) => recognizer.recognize(requests, options),
    decodeImage: (bytes) => decodeImage(bytes),
    encodePng,
    close: () => recognizer.close(),
    [Symbol.asyncDispose]: () => recognizer.close(),
  };
}
