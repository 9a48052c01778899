/**
 * HTML as BeautifulSoup 4.11.1 reads and writes it with Python's `html.parser`: nothing closes by itself (`<td>a<td>b` nests), an end
 * tag closes up to its start tag, attributes come out sorted and double-quoted. OmniDocBench cleans tables through this round trip
 * before TEDS sees them, so its habits are part of the score, a `<br/>` that stays open after an earlier `<br>` included.
 * It refuses to know what is done to the tree in between.
 */
import { decodeHTML, decodeHTMLStrict } from "entities";
import { PYTHON_SPACE, strip } from "./python-text.ts";

export interface SoupTag {
  readonly kind: "tag";
  name: string;
  readonly attributes: Map<string, string>;
  children: SoupNode[];
}

/** Text is escaped when written, markup (comments, declarations) is not. */
export type SoupNode = SoupTag | { readonly kind: "text"; readonly text: string } | { readonly kind: "markup"; readonly text: string };

const VOID_TAGS = new Set(
  (
    "area base br col embed hr img input keygen link menuitem meta param source track wbr " +
    "basefont bgsound command frame image isindex nextid spacer"
  ).split(" "),
);
const RAW_TAGS = new Set(["script", "style"]);
const LIST_ATTRIBUTES = new Set(["class", "accesskey", "dropzone", "td headers", "th headers", "a rel", "a rev", "link rel", "link rev"]);

const S = PYTHON_SPACE;
const NAME = "[a-zA-Z][^\\t\\n\\r\\f />\\0]*";
const GAP = `(?:[${S}]|/(?!>))*`;
const VALUE = `(?:'[^']*'|"[^"]*"|(?!['"])[^>${S}]*)`;
const ATTRIBUTE_NAME = `(?<=['"${S}/])[^${S}/>][^${S}/=>]*`;
const TAG_START = new RegExp(`(${NAME})${GAP}`, "y");
const ATTRIBUTE = new RegExp(`(${ATTRIBUTE_NAME})([${S}]*=+[${S}]*(${VALUE}))?${GAP}`, "y");
const WHOLE_START = new RegExp(`<${NAME}(?:[${S}/]*(?:${ATTRIBUTE_NAME}(?:[${S}]*=+[${S}]*${VALUE}[${S}]*)?${GAP})*)?[${S}]*`, "y");
const END_TAG = new RegExp(`</[${S}]*([a-zA-Z][-.a-zA-Z0-9:_]*)[${S}]*>`, "y");
const COMMENT_END = new RegExp(`--[${S}]*>`, "g");
const CHARACTER_REFERENCE = /&#([0-9]+|[xX][0-9a-fA-F]+)(?=[^0-9a-fA-F])/y;
const ENTITY_REFERENCE = /&([a-zA-Z][-.a-zA-Z0-9]*)(?=[^a-zA-Z0-9])/y;

/** Characters 0x80 to 0x9f of windows-1252, and `\ufffd` where it has none. */
const WINDOWS_1252 = "€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ";

/** Reads a document; the returned tag is its nameless root. */
export function parseSoup(html: string): SoupTag {
  return new SoupParser().parse(html);
}

/** The children of a tag as HTML. */
export function renderSoup(root: SoupTag): string {
  return root.children.map((child) => renderNode(child, root)).join("");
}

/** All tags of a name below a tag, in document order. */
export function findTags(root: SoupTag, name: string): SoupTag[] {
  return root.children.flatMap((child) =>
    child.kind === "tag" ? [...(child.name === name ? [child] : []), ...findTags(child, name)] : [],
  );
}

/** Replaces every tag below `root` for which `replace` gives nodes by these nodes, inner tags first. */
export function replaceTags(root: SoupTag, replace: (tag: SoupTag) => SoupNode[] | null): void {
  root.children = root.children.flatMap((child) => {
    if (child.kind !== "tag") return [child];
    replaceTags(child, replace);
    return replace(child) ?? [child];
  });
}

/** The text of a tag that holds a single string, however deep; `null` if it holds anything else. */
export function singleString(tag: SoupTag): string | null {
  if (tag.children.length !== 1) return null;
  const [child] = tag.children;
  return child.kind === "tag" ? singleString(child) : child.text;
}

/** `html.unescape` of Python. */
export function unescapeHtml(text: string): string {
  return text.replace(/&(#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)/g, (reference, name: string) => {
    if (!name.startsWith("#")) return decodeHTML(reference);
    const isHex = name[1] === "x" || name[1] === "X";
    const code = Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10);
    if (code === 0 || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return "\ufffd";
    if (code >= 0x80 && code <= 0x9f) {
      const character = WINDOWS_1252[code - 0x80];
      return character === "\ufffd" ? String.fromCharCode(code) : character;
    }
    if (code === 0x0d) return "\r";
    const isControl = (code < 0x20 && code !== 9 && code !== 10 && code !== 12) || code === 0x7f;
    const isNoncharacter = (code >= 0xfdd0 && code <= 0xfdef) || (code & 0xfffe) === 0xfffe;
    return isControl || isNoncharacter ? "" : String.fromCodePoint(code);
  });
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function renderNode(node: SoupNode, parent: SoupTag): string {
  if (node.kind === "markup") return node.text;
  if (node.kind === "text") return RAW_TAGS.has(parent.name) ? node.text : escapeText(node.text);
  const attributes = [...node.attributes]
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => ` ${name}=${quoted(value)}`);
  const start = `<${node.name}${attributes.join("")}`;
  if (VOID_TAGS.has(node.name) && node.children.length === 0) return `${start}/>`;
  return `${start}>${renderSoup(node)}</${node.name}>`;
}

function quoted(value: string): string {
  const escaped = escapeText(value);
  if (!escaped.includes('"')) return `"${escaped}"`;
  return escaped.includes("'") ? `"${escaped.replaceAll('"', "&quot;")}"` : `'${escaped}'`;
}

class SoupParser {
  private readonly root: SoupTag = { kind: "tag", name: "[document]", attributes: new Map(), children: [] };
  private readonly stack: SoupTag[] = [this.root];
  /** Names of void tags closed at their start whose end tag is still to be passed over. */
  private readonly closedAtStart: string[] = [];
  private pending = "";
  private source = "";
  private rawTag: string | null = null;

  parse(html: string): SoupTag {
    this.source = html;
    this.source = this.source.slice(this.read(false));
    this.read(true);
    this.flush();
    return this.root;
  }

  private flush(wrap: ((text: string) => string) | null = null): void {
    let text = this.pending;
    this.pending = "";
    if (text === "") return;
    if (wrap) {
      this.top().children.push({ kind: "markup", text: wrap(text) });
      return;
    }
    const keepsSpace = this.stack.some((tag) => tag.name === "pre" || tag.name === "textarea");
    if (!keepsSpace && /^[ \n\t\f\r]*$/.test(text)) text = text.includes("\n") ? "\n" : " ";
    this.top().children.push({ kind: "text", text });
  }

  private top(): SoupTag {
    return this.stack[this.stack.length - 1];
  }

  private open(name: string, attributes: Map<string, string>): void {
    this.flush();
    const tag: SoupTag = { kind: "tag", name, attributes, children: [] };
    for (const [key, value] of attributes) {
      if (LIST_ATTRIBUTES.has(key) || LIST_ATTRIBUTES.has(`${name} ${key}`)) {
        attributes.set(key, value.match(new RegExp(`[^${S}]+`, "g"))?.join(" ") ?? "");
      }
    }
    this.top().children.push(tag);
    this.stack.push(tag);
  }

  private close(name: string): void {
    this.flush();
    const depth = this.stack.findLastIndex((tag) => tag.name === name);
    if (depth > 0) this.stack.length = depth;
  }

  private endTag(name: string): void {
    const closed = this.closedAtStart.indexOf(name);
    if (closed >= 0) this.closedAtStart.splice(closed, 1);
    else this.close(name);
  }

  private markup(text: string, wrap: (text: string) => string): void {
    this.flush();
    this.pending = text;
    this.flush(wrap);
  }

  /** One pass over the source, up to where it may be incomplete; at the end what is left is text. Returns how far it came. */
  private read(isEnd: boolean): number {
    const { source } = this;
    let at = 0;
    while (at < source.length) {
      const next = this.interesting(at);
      if (next < 0 && this.rawTag) break;
      const stop = next < 0 ? source.length : next;
      this.pending += source.slice(at, stop);
      at = stop;
      if (at === source.length) break;
      if (source[at] === "<") {
        if (at + 1 === source.length) break;
        let end = this.tagLike(at);
        if (end < 0) {
          if (!isEnd) break;
          const close = source.indexOf(">", at + 1);
          const open = source.indexOf("<", at + 1);
          end = close >= 0 ? close + 1 : open >= 0 ? open : at + 1;
          this.pending += source.slice(at, end);
        }
        at = end;
        continue;
      }
      const reference = this.reference(at, isEnd);
      if (reference.end === null) {
        at = reference.resume;
        break;
      }
      at = reference.end;
    }
    if (isEnd && at < source.length && !this.rawTag) {
      this.pending += source.slice(at);
      at = source.length;
    }
    return at;
  }

  private interesting(from: number): number {
    if (!this.rawTag) {
      const found = /[&<]/g;
      found.lastIndex = from;
      return found.exec(this.source)?.index ?? -1;
    }
    const end = new RegExp(`</[${S}]*${this.rawTag}[${S}]*>`, "gi");
    end.lastIndex = from;
    return end.exec(this.source)?.index ?? -1;
  }

  /** Reads `&…`; `end` is `null` where this pass must stop, at `resume`. */
  private reference(at: number, isEnd: boolean): { end: number | null; resume: number } {
    const { source } = this;
    const after = (end: number) => ({ end: source[end] === ";" ? end + 1 : end, resume: at });
    if (source.startsWith("&#", at)) {
      CHARACTER_REFERENCE.lastIndex = at;
      const match = CHARACTER_REFERENCE.exec(source);
      if (match) {
        this.pending += characterOf(match[1]);
        return after(CHARACTER_REFERENCE.lastIndex);
      }
      if (!source.includes(";", at)) return { end: null, resume: at };
      this.pending += "&#";
      return { end: null, resume: at + 2 };
    }
    ENTITY_REFERENCE.lastIndex = at;
    const match = ENTITY_REFERENCE.exec(source);
    if (match) {
      const reference = `&${match[1]};`;
      const character = decodeHTMLStrict(reference);
      this.pending += character === reference ? `&${match[1]}` : character;
      return after(ENTITY_REFERENCE.lastIndex);
    }
    if (/^[a-zA-Z]/.test(source.slice(at + 1, at + 2))) return { end: null, resume: isEnd && at + 2 === source.length ? at + 1 : at };
    this.pending += "&";
    return at + 1 < source.length ? { end: at + 1, resume: at } : { end: null, resume: at + 1 };
  }

  /** Reads a construct that begins with `<`; returns its end, or -1 if it may be incomplete. */
  private tagLike(at: number): number {
    const { source } = this;
    if (/^<[a-zA-Z]/.test(source.slice(at, at + 2))) return this.startTag(at);
    if (source.startsWith("</", at)) return this.endTagAt(at);
    if (source.startsWith("<!--", at)) {
      COMMENT_END.lastIndex = at + 4;
      const end = COMMENT_END.exec(source);
      if (!end) return -1;
      this.markup(source.slice(at + 4, end.index), (text) => `<!--${text}-->`);
      return COMMENT_END.lastIndex;
    }
    if (source.startsWith("<?", at)) return this.upToGreater(at, at + 2, (text) => `<?${text}>`);
    if (/^<!doctype/i.test(source.slice(at, at + 9))) {
      return this.upToGreater(at, at + 10, (text) => `<!DOCTYPE ${text}>`);
    }
    if (source.startsWith("<!", at)) return this.upToGreater(at, at + 2, (text) => `<!--${text}-->`);
    this.pending += "<";
    return at + 1;
  }

  private upToGreater(at: number, from: number, wrap: (text: string) => string): number {
    const end = this.source.indexOf(">", at + 2);
    if (end < 0) return -1;
    this.markup(this.source.slice(from, end), wrap);
    return end + 1;
  }

  private wholeStart(at: number): number {
    WHOLE_START.lastIndex = at;
    WHOLE_START.exec(this.source);
    const end = WHOLE_START.lastIndex;
    const next = this.source[end] ?? "";
    if (next === ">") return end + 1;
    if (next === "/") return this.source.startsWith("/>", end) ? end + 2 : -1;
    if (next === "" || /[a-zA-Z=]/.test(next)) return -1;
    return end > at ? end : at + 1;
  }

  private startTag(at: number): number {
    const { source } = this;
    const end = this.wholeStart(at);
    if (end < 0) return end;
    TAG_START.lastIndex = at + 1;
    const name = TAG_START.exec(source)![1].toLowerCase();
    const attributes = new Map<string, string>();
    let position = TAG_START.lastIndex;
    while (position < end) {
      ATTRIBUTE.lastIndex = position;
      const match = ATTRIBUTE.exec(source);
      if (!match) break;
      const isQuoted = match[3] !== undefined && match[3].length > 1 && /^(['"]).*\1$/s.test(match[3]);
      attributes.set(match[1].toLowerCase(), unescapeHtml(isQuoted ? match[3].slice(1, -1) : (match[3] ?? "")));
      position = ATTRIBUTE.lastIndex;
    }
    const rest = strip(source.slice(position, end));
    if (rest !== ">" && rest !== "/>") {
      this.pending += source.slice(at, end);
      return end;
    }
    this.open(name, attributes);
    if (rest === "/>") this.endTag(name);
    else if (VOID_TAGS.has(name)) {
      this.close(name);
      this.closedAtStart.push(name);
    } else if (RAW_TAGS.has(name)) this.rawTag = name;
    return end;
  }

  private endTagAt(at: number): number {
    const { source } = this;
    const greater = source.indexOf(">", at + 1);
    if (greater < 0) return -1;
    END_TAG.lastIndex = at;
    const match = END_TAG.exec(source);
    const name = match?.[1].toLowerCase();
    if (this.rawTag !== null && name !== this.rawTag) {
      this.pending += source.slice(at, greater + 1);
      return greater + 1;
    }
    if (name !== undefined) {
      this.endTag(name);
      this.rawTag = null;
      return greater + 1;
    }
    TAG_START.lastIndex = at + 2;
    const loose = TAG_START.exec(source);
    if (!loose) return source.startsWith("</>", at) ? at + 3 : this.upToGreater(at, at + 2, (text) => `<!--${text}-->`);
    const end = source.indexOf(">", TAG_START.lastIndex);
    this.endTag(loose[1].toLowerCase());
    return end + 1;
  }
}

/** The character of a numeric reference, read as windows-1252 below 256. */
function characterOf(digits: string): string {
  const isHex = digits[0] === "x" || digits[0] === "X";
  const code = isHex ? Number.parseInt(digits.slice(1), 16) : Number.parseInt(digits, 10);
  if (code >= 0x80 && code <= 0x9f && WINDOWS_1252[code - 0x80] !== "\ufffd") return WINDOWS_1252[code - 0x80];
  return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
}
