/**
 * The tokenizer of the small checkpoint that ships with this package, in the file formats of the published one (byte-level BPE, Qwen2
 * pre-tokenizer, NFC). It is a character vocabulary: one token for each byte, merges only for the multi-byte characters that printed
 * English and European documents use, so that each of them is one token, the published model's added tokens, and the turns of a prompt
 * and the commands of LaTeX as one token each. No words: a small model learns letters from few pages, and some 800 tokens keep its
 * output head small. Knows nothing of weights.
 */

import { type AddedToken, qwen2TokenizerJson } from "./tokenizer.ts";

/** Characters beyond ASCII that are one token each. Any other character is read and written byte by byte. */
const characters = [
  // Latin-1: punctuation, signs and letters.
  "¡¢£¤¥¦§¨©ª«¬®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ",
  // Czech, Polish, Hungarian, Romanian, Turkish, Croatian, Baltic, French.
  "ĀāĂăĄąĆćČčĎďĒēĖėĘęĚěĞğĢģĪīĮįİıĶķĹĺĻļĽľŁłŃńŅņŇňŌōŐőŒœŔŕŘřŚśŞşŠšŢţŤťŪūŮůŰűŲųŸŹźŻżŽžȘșȚț",
  "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρςστυφχψωϑϕϵ",
  // Dashes, quotes, marks.
  "‐‑–—―‘’‚“”„†‡•…‰′″‹›",
  "€№℃℉™ℓ",
  "←↑→↓↔⇐⇒⇔↦",
  "∀∂∃∅∆∇∈∉∋∏∑−∓∗∘√∝∞∠∥∧∨∩∪∫∮∴∼≃≅≈≠≡≤≥≪≫⊂⊃⊆⊇⊕⊗⊥⋅⋯⟨⟩",
  "■□▪●○◦★☆☐☑☒✓✗",
].join("");

/** The published added tokens that page reading uses, in the published order; the flag says whether it is special. */
const addedTokens: readonly (readonly [string, boolean])[] = [
  ["<|endoftext|>", true],
  ["<|im_start|>", true],
  ["<|im_end|>", true],
  ["<|object_ref_start|>", true],
  ["<|object_ref_end|>", true],
  ["<|box_start|>", true],
  ["<|box_end|>", true],
  ["<|quad_start|>", true],
  ["<|quad_end|>", true],
  ["<|vision_start|>", true],
  ["<|vision_end|>", true],
  ["<|vision_pad|>", true],
  ["<|image_pad|>", true],
  ["<|video_pad|>", true],
  ["<|MASK|>", true],
  ["<|ref_start|>", false],
  ["<|ref_end|>", false],
  ["<|rotate_up|>", false],
  ["<|rotate_right|>", false],
  ["<|rotate_down|>", false],
  ["<|rotate_left|>", false],
  ["<|txt_contd_tgt|>", false],
  ["<fcel>", false],
  ["<ecel>", false],
  ["<lcel>", false],
  ["<ucel>", false],
  ["<xcel>", false],
  ["<nl>", false],
  ["<ched>", false],
  ["<rhed>", false],
  ["<srow>", false],
];

/** What every prompt says in the same words: with one token a letter it would cost more than a printed line. */
export const promptPieces: readonly string[] = [
  "user\n",
  "assistant\n",
  "\nText Recognition:",
  "\nTable Recognition:",
  "\nFormula Recognition:",
  "\nLayout Detection:",
  "\nLayout Analysis:",
];

/** Commands that a formula spells with one token each; any other is spelt with its letters. */
export const latexCommands: readonly string[] = [
  "\\{ \\} \\| \\, \\; \\! \\quad \\qquad \\frac \\sqrt \\binom \\left \\right \\bigl \\bigr \\Bigl \\Bigr \\text \\tag",
  "\\mathrm \\mathbf \\mathit \\mathsf \\mathcal \\mathbb \\mathfrak \\boldsymbol \\operatorname",
  "\\bar \\hat \\tilde \\vec \\dot \\ddot \\overline \\underline \\widehat \\widetilde \\overbrace \\underbrace",
  "\\sum \\prod \\int \\oint \\iint \\lim \\sup \\inf \\max \\min \\sin \\cos \\tan \\exp \\log \\ln \\det",
  "\\alpha \\beta \\gamma \\delta \\epsilon \\varepsilon \\zeta \\eta \\theta \\vartheta \\iota \\kappa \\lambda \\mu \\nu \\xi \\pi",
  "\\rho \\varrho \\sigma \\varsigma \\tau \\upsilon \\phi \\varphi \\chi \\psi \\omega",
  "\\Gamma \\Delta \\Theta \\Lambda \\Xi \\Pi \\Sigma \\Upsilon \\Phi \\Psi \\Omega",
  "\\partial \\nabla \\infty \\hbar \\ell \\prime \\forall \\exists \\emptyset \\cdot \\times \\div \\pm \\mp \\circ \\bullet \\ast \\star",
  "\\oplus \\otimes \\wedge \\vee \\cap \\cup \\setminus \\in \\notin \\subset \\subseteq \\supset \\supseteq \\mid \\parallel \\perp",
  "\\leq \\geq \\le \\ge \\neq \\ne \\equiv \\approx \\sim \\simeq \\cong \\propto \\ll \\gg",
  "\\to \\leftarrow \\rightarrow \\leftrightarrow \\Leftarrow \\Rightarrow \\Leftrightarrow \\mapsto \\langle \\rangle \\lfloor \\rfloor \\lceil",
  "\\rceil \\cdots \\ldots \\dots \\vdots \\ddots",
]
  .flatMap((line) => line.split(" "))
  .concat(
    ["\\\\"],
    ["matrix", "pmatrix", "bmatrix", "vmatrix", "cases", "aligned"].flatMap((name) => [`\\begin{${name}}`, `\\end{${name}}`]),
  );

/** All the characters beyond ASCII that are one token, each once. */
export const miniCharacters: readonly string[] = [...characters];

/**
 * Prompts of the small checkpoint: the Qwen2-VL strings, except that system messages are left out. With one token a letter the usual
 * one would cost 38 tokens in front of every region, to say the same thing each time.
 */
const chatTemplate = `{#- Qwen2-VL prompts without system messages: with one token a letter they would cost more than the question. -#}
{%- for message in messages -%}
{%- if message.role != 'system' -%}
{{- '<|im_start|>' + message.role + '\\n' -}}
{%- if message.content is string -%}
{{- message.content -}}
{%- else -%}
{%- for part in message.content -%}
{%- if part.type == 'image' or part.type == 'image_url' -%}
{{- '<|vision_start|><|image_pad|><|vision_end|>' -}}
{%- elif part.type == 'text' -%}
{{- part.text -}}
{%- endif -%}
{%- endfor -%}
{%- endif -%}
{{- '<|im_end|>\\n' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{- '<|im_start|>assistant\\n' -}}
{%- endif -%}
`;

/** The byte alphabet of byte-level BPE: printable Latin-1 bytes stand for themselves, the rest for characters from U+0100 on. */
function byteAlphabet(): { readonly order: readonly string[]; readonly ofByte: readonly string[] } {
  const printable = (byte: number) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  const hidden = bytes.filter((byte) => !printable(byte));
  const ofByte = bytes.map((byte) => String.fromCharCode(printable(byte) ? byte : 0x100 + hidden.indexOf(byte)));
  return { order: [...bytes.filter(printable), ...hidden].map((byte) => ofByte[byte]), ofByte };
}

/** Embedding rows for a vocabulary: rounded up to a multiple of 16, the surplus rows standing for no token. */
export function paddedVocabSize(vocabSize: number): number {
  return Math.ceil(vocabSize / 16) * 16;
}

/**
 * The files of the small checkpoint that concern text and pixels, by name: texts as they are, the rest to be written as JSON.
 * Images are of 1 to 256 image tokens (28 x 28 pixels each).
 */
export function miniTokenizerFiles(): Record<string, unknown> {
  const { order, ofByte } = byteAlphabet();
  const vocab: Record<string, number> = {};
  for (const letter of order) vocab[letter] = Object.keys(vocab).length;
  const merges: [string, string][] = [];
  for (const character of miniCharacters) {
    const bytes = Array.from(new TextEncoder().encode(character), (byte) => ofByte[byte]);
    // A three-byte character is reached through the token of its first two bytes.
    for (let end = 2; end <= bytes.length; end++) {
      const merged = bytes.slice(0, end).join("");
      if (Object.hasOwn(vocab, merged)) continue;
      vocab[merged] = Object.keys(vocab).length;
      merges.push([bytes.slice(0, end - 1).join(""), bytes[end - 1]]);
    }
  }
  const first = Object.keys(vocab).length;
  const all = [...addedTokens, ...[...promptPieces, ...latexCommands].map((content) => [content, false] as const)];
  const added: AddedToken[] = all.map(([content, special], i) => ({ id: first + i, content, special }));
  const idOf = (token: string) => added.find(({ content }) => content === token)!.id;
  const special = added.filter((token) => token.special && token.content !== "<|endoftext|>").map(({ content }) => content);
  const named = { additional_special_tokens: special, eos_token: "<|im_end|>", pad_token: "<|endoftext|>" };
  return {
    "tokenizer.json": qwen2TokenizerJson(vocab, merges, added),
    "tokenizer_config.json": {
      add_bos_token: false,
      add_prefix_space: false,
      added_tokens_decoder: Object.fromEntries(
        added.map(({ id, ...token }) => [id, { ...token, lstrip: false, normalized: false, rstrip: false, single_word: false }]),
      ),
      ...named,
      bos_token: null,
      clean_up_tokenization_spaces: false,
      errors: "replace",
      model_max_length: 4096,
      split_special_tokens: false,
      tokenizer_class: "Qwen2Tokenizer",
      unk_token: null,
    },
    "special_tokens_map.json": named,
    "chat_template.jinja": chatTemplate,
    "preprocessor_config.json": {
      do_convert_rgb: true,
      do_normalize: true,
      do_rescale: true,
      do_resize: true,
      image_mean: [0.48145466, 0.4578275, 0.40821073],
      image_processor_type: "Qwen2VLImageProcessor",
      image_std: [0.26862954, 0.26130258, 0.27577711],
      // Ours, read by engine/reading-profile.ts: how the page pipeline prepares pictures for these weights.
      layout_detection: false,
      table_recognition: false,
      layout_image_size: 560,
      max_pixels: 512 * 28 * 28,
      merge_size: 2,
      min_pixels: 28 * 28,
      patch_size: 14,
      printed_line_breaks: true,
      region_max_tokens: 224,
      resample: 3,
      rescale_factor: 1 / 255,
      size: { longest_edge: 512 * 28 * 28, shortest_edge: 28 * 28 },
      temporal_patch_size: 2,
      text_line_pixels: 28,
    },
    "generation_config.json": { eos_token_id: [idOf("<|im_end|>"), idOf("<|endoftext|>")], pad_token_id: idOf("<|endoftext|>") },
  };
}

/** The bytes of one of those files as they lie in models/mini. */
export function miniFileText(content: unknown): string {
  return typeof content === "string" ? content : `${JSON.stringify(content, null, 1)}\n`;
}
