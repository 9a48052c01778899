/**
 * Where words come from: paragraphs of public-domain and MIT-licensed English, cut into a training and a held-out
 * side by a hash of the paragraph itself, so no sentence is ever on both. A folder of text files (made by
 * scripts/synth-fetch-corpus.mjs) is used when given; the small built-in text otherwise. It refuses to know how
 * words are printed.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { MineruError } from "../error.ts";
import { BUILT_IN_TEXT } from "./built-in-text.ts";
import type { Split } from "./fonts.ts";
import { hashText, type Random } from "./random.ts";

export interface Corpus {
  readonly paragraphs: readonly string[];
  /** Distinct words of the paragraphs, letters only. */
  readonly words: readonly string[];
}

/** Every character that synthetic text may hold: printable ASCII, typographic signs, Western European letters. */
export const SYNTH_ALPHABET: string =
  " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~" +
  "‘’“”„–—…•·§¶†‡©®™°±×÷£€¥¢«»¿¡½¼¾²³µ" +
  "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿŒœŠšŽž";

const ALLOWED = new Set(SYNTH_ALPHABET);
const HELD_OUT_SHARE = 0.1;

/** Which side of the split a paragraph is on. */
export function splitOf(paragraph: string): Split {
  return hashText(paragraph.replace(/\W+/g, "").toLowerCase()) / 4294967296 < HELD_OUT_SHARE ? "heldout" : "train";
}

/** Keeps what the alphabet can spell; white space is one space. */
export function cleanText(text: string): string {
  let clean = "";
  for (const char of text.normalize("NFC").replace(/\s+/g, " ")) if (ALLOWED.has(char)) clean += char;
  return clean.trim();
}

/** Builds one side of a corpus from text whose paragraphs are separated by line ends. */
export function corpusFrom(text: string, split: Split): Corpus {
  const paragraphs: string[] = [];
  const words = new Set<string>();
  for (const line of text.split("\n")) {
    const paragraph = cleanText(line);
    if (paragraph.length < 12 || splitOf(paragraph) !== split) continue;
    paragraphs.push(paragraph);
    for (const word of paragraph.match(/[A-Za-z]{2,14}/g) ?? []) words.add(word);
  }
  return { paragraphs, words: [...words] };
}

/**
 * Reads every `.txt` file of `folder` (one paragraph a line); without a folder, the built-in text.
 * @throws MineruError `file-unreadable` if the folder is given but cannot be read or holds no text.
 */
export async function loadCorpus(split: Split, folder?: string): Promise<Corpus> {
  if (folder === undefined) return corpusFrom(BUILT_IN_TEXT, split);
  try {
    const names = (await readdir(folder)).filter((name) => name.endsWith(".txt")).sort();
    if (names.length === 0) throw new Error("no .txt files");
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
    return corpusFrom(texts.join("\n"), split);
  } catch (cause) {
    throw new MineruError("file-unreadable", `no training corpus in ${folder}: run scripts/synth-fetch-corpus.mjs first`, { cause });
  }
}

/** A run of whole words of about `length` characters from a random place of the corpus. */
export function excerpt(corpus: Corpus, random: Random, length: number): string {
  let text = "";
  while (text.length < length) {
    const paragraph = random.pick(corpus.paragraphs);
    const words = paragraph.split(" ");
    const start = random.chance(0.5) ? 0 : random.int(0, Math.max(0, words.length - 4));
    for (let i = start; i < words.length && text.length < length; i++) text += (text ? " " : "") + words[i];
  }
  return text;
}
