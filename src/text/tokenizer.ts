/**
 * Text to token ids and back: byte-level BPE with the Qwen2 pre-tokenizer and NFC, as the checkpoint's tokenizer.json states it (or, in
 * older folders, vocab.json and merges.txt). The BPE itself is @huggingface/tokenizers; this file adds the older form, empty and typed
 * id lists, errors that name the file's fault, and a guard against the library's tidying of spaces. Ids that name no token decode to
 * nothing and invalid UTF-8 to U+FFFD, as in the reference. What the tokens mean to a model is not known here.
 */

import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import { MineruError } from "../error.ts";

/** Parsed tokenizer files of a checkpoint folder. Either `tokenizerJson` or `vocab` and `merges` must be there. */
export interface TokenizerFiles {
  readonly tokenizerJson?: unknown;
  readonly tokenizerConfig?: unknown;
  /** vocab.json: token to id. */
  readonly vocab?: unknown;
  /** merges.txt: one merge a line. */
  readonly merges?: string;
  /** added_tokens.json: token to id; used when the tokenizer config does not describe them. */
  readonly addedTokens?: unknown;
}

export interface Tokenizer {
  /** Token ids of `text`, nothing added around it. Added tokens written in the text become their ids. */
  encode(text: string): number[];
  /** Text of `ids`; special tokens (chat, vision and mask tokens, but not table tokens) are left out when `skipSpecial` is set. */
  decode(ids: ArrayLike<number>, options?: { readonly skipSpecial?: boolean }): string;
  /** Id of one token as spelled in the vocabulary. RangeError when there is none. */
  idOf(token: string): number;
  has(token: string): boolean;
  /** Whether `id` names a special token, which `skipSpecial` leaves out. */
  isSpecial(id: number): boolean;
  /** One more than the highest id; a model's embedding may have further, padding rows. */
  readonly vocabSize: number;
}

/** Builds a tokenizer. Throws `checkpoint-invalid` when the files are missing or do not describe a byte-level BPE tokenizer. */
export function loadTokenizer(files: TokenizerFiles): Tokenizer {
  const json = files.tokenizerJson ?? fromVocabulary(files);
  const config = isRecord(files.tokenizerConfig) ? files.tokenizerConfig : {};
  if (!isRecord(json) || !isRecord(json.model) || json.model.type !== "BPE" || !Array.isArray(json.added_tokens)) {
    throw invalid("tokenizer.json expected a BPE model and a list of added tokens");
  }
  let inner: HuggingFaceTokenizer;
  try {
    inner = new HuggingFaceTokenizer(json, config);
  } catch (cause) {
    throw invalid("tokenizer.json expected a tokenizer that can be built", cause);
  }
  const vocabulary = inner.get_vocab(true);
  const special = new Set<number>();
  for (const [id, token] of inner.get_added_tokens_decoder()) if (token.special) special.add(id);

  const idOf = (token: string): number => {
    const id = vocabulary.get(token);
    if (id === undefined) throw new RangeError(`\`token\` expected a token of the vocabulary, got ${JSON.stringify(token)}`);
    return id;
  };
  return {
    encode: (text) => (text === "" ? [] : inner.encode(text, { add_special_tokens: false }).ids),
    decode(ids, { skipSpecial = false } = {}) {
      const kept = Array.from(ids).filter((id) => !(skipSpecial && special.has(id)));
      // The library refuses an empty list, and by default removes spaces before punctuation.
      return kept.length === 0 ? "" : inner.decode(kept, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
    },
    idOf,
    has: (token) => vocabulary.has(token),
    isSpecial: (id) => special.has(id),
    vocabSize: [...vocabulary.values()].reduce((highest, id) => Math.max(highest, id), -1) + 1,
  };
}

/** The pattern that cuts text into words before merging, as in the published Qwen2 tokenizer: a constant of the format. */
export const qwen2Pattern =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

export interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
}

/** tokenizer.json of a Qwen2 tokenizer with the given vocabulary, merges and added tokens. */
export function qwen2TokenizerJson(
  vocab: Readonly<Record<string, number>>,
  merges: readonly (readonly [string, string])[],
  addedTokens: readonly AddedToken[],
): Record<string, unknown> {
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: addedTokens.map(({ id, content, special }) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special,
    })),
    normalizer: { type: "NFC" },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [{ type: "Split", pattern: { Regex: qwen2Pattern }, behavior: "Isolated", invert: false }, byteLevel],
    },
    post_processor: byteLevel,
    decoder: byteLevel,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab,
      merges,
    },
  };
}

function fromVocabulary({ vocab, merges, tokenizerConfig, addedTokens }: TokenizerFiles): Record<string, unknown> {
  if (vocab === undefined || merges === undefined) throw invalid("expected tokenizer.json, or vocab.json and merges.txt, got neither");
  if (!isRecord(vocab)) throw invalid("vocab.json expected an object from tokens to ids");
  const pairs = merges
    .split(/\r?\n/)
    .filter((line) => line !== "" && !line.startsWith("#version"))
    .map((line): [string, string] => {
      const pair = line.split(" ");
      if (pair.length !== 2) throw invalid(`merges.txt expected two tokens a line, got ${JSON.stringify(line)}`);
      return [pair[0], pair[1]];
    });
  const described = isRecord(tokenizerConfig) && isRecord(tokenizerConfig.added_tokens_decoder) ? tokenizerConfig.added_tokens_decoder : {};
  const added = new Map<number, AddedToken>();
  for (const [content, id] of Object.entries(isRecord(addedTokens) ? addedTokens : {})) {
    added.set(id as number, { id: id as number, content, special: /^<\|.*\|>$/.test(content) });
  }
  for (const [id, token] of Object.entries(described)) {
    const { content, special } = token as { content: string; special?: boolean };
    added.set(Number(id), { id: Number(id), content, special: special === true });
  }
  return qwen2TokenizerJson(
    vocab as Record<string, number>,
    pairs,
    [...added.values()].sort((a, b) => a.id - b.id),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(message: string, cause?: unknown): MineruError {
  return new MineruError("checkpoint-invalid", `tokenizer: ${message}; use the tokenizer files published with the checkpoint`, { cause });
}
