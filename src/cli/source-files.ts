/**
 * From the arguments of `parse` to files: a folder is walked, a pattern is matched, a file stays. Every file gets the place of its output, no
 * two the same and none inside another's, whatever the files are called. What cannot be listed is a problem of its own and stops nothing.
 */
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, extname, join, relative, resolve, sep } from "node:path";
import { MineruError } from "../index.ts";

/** A file to parse. */
export interface SourceFile {
  /** As it can be opened; `-` is standard input. */
  readonly path: string;
  /** Place of its output below the output folder, parts divided by `/`. */
  readonly name: string;
}

/** A folder or link that could not be followed. */
export interface ListingProblem {
  readonly path: string;
  readonly message: string;
}

export interface SourceFiles {
  readonly files: readonly SourceFile[];
  readonly problems: readonly ListingProblem[];
}

/** What is picked up in folders; files named outright may be called anything. */
const EXTENSIONS = new Set([".pdf", ".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".gif", ".bmp"]);
/** Names of files grow by up to 18 letters; file systems take 255 bytes. */
const LONGEST_NAME_BYTES = 200;

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

interface Walk {
  /** Real paths of folders already seen: a link back up is not followed again. */
  readonly seen: Set<string>;
  readonly problems: ListingProblem[];
}

async function* filesBelow(folder: string, walk: Walk): AsyncGenerator<string> {
  try {
    const real = await realpath(folder);
    if (walk.seen.has(real)) return;
    walk.seen.add(real);
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => byName(a.name, b.name))) {
      if (entry.name.startsWith(".")) continue;
      const path = join(folder, entry.name);
      const kind = entry.isSymbolicLink() ? await stat(path).catch((cause) => cannotList(path, cause, walk)) : entry;
      if (kind?.isDirectory()) yield* filesBelow(path, walk);
      else if (kind?.isFile()) yield path;
    }
  } catch (cause) {
    cannotList(folder, cause, walk);
  }
}

function cannotList(path: string, cause: unknown, { problems }: Walk): null {
  const { code, message } = cause as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    EACCES: "permission is denied",
    ELOOP: "the link leads to itself",
    ENOENT: "the link leads nowhere",
  };
  problems.push({ path, message: `cannot list ${path}: ${reasons[code ?? ""] ?? message}` });
  return null;
}

const MAGIC = /[*?[\]{}]/;

/** `**` is any folders, `*` and `?` stay within a name, `[a-c]` is a choice of letters, `{a,b}` a choice of words. */
export function globPattern(glob: string): RegExp {
  let depth = 0;
  const source = glob.replace(/\*\*\/|\*\*|\*|\?|\[!?[^\]]+\]|[{},]|[.+^$()|\\[\]]/g, (sign) => {
    if (sign === "**/") return "(?:.*/)?";
    if (sign === "**") return ".*";
    if (sign === "*") return "[^/]*";
    if (sign === "?") return "[^/]";
    if (sign.length > 2) return sign.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
    if (sign === "{") depth++;
    if (sign === "{") return "(?:";
    if (sign === "}" && depth > 0) {
      depth--;
      return ")";
    }
    if (sign === ",") return depth > 0 ? "|" : ",";
    return `\\${sign}`;
  });
  return new RegExp(`^${source}${")".repeat(depth)}$`);
}

interface Found {
  readonly path: string;
  /** Path below the folder it was found in. */
  readonly below: string;
}

async function* expanded(argument: string, walk: Walk): AsyncGenerator<Found> {
  const named = (path: string): Found => ({ path, below: basename(path) });
  if (argument === "-") return yield { path: "-", below: "stdin" };
  const kind = await stat(argument).catch(() => null);
  if (kind?.isDirectory()) {
    for await (const path of filesBelow(argument, walk))
      if (EXTENSIONS.has(extname(path).toLowerCase())) yield { path, below: relative(argument, path) };
    return;
  }
  // A file that does not exist fails when it is opened, in the words of every other file.
  if (kind !== null || !MAGIC.test(argument)) return yield named(argument);
  const parts = argument.split("/");
  const fixed = parts.slice(
    0,
    parts.findIndex((part) => MAGIC.test(part)),
  );
  const folder = fixed.length === 0 ? "." : fixed.join("/") || "/";
  const pattern = globPattern(parts.slice(fixed.length).join("/"));
  for await (const path of filesBelow(folder, { ...walk, seen: new Set(walk.seen) })) {
    const below = relative(folder, path).split(sep).join("/");
    if (pattern.test(below)) yield { path, below };
  }
}

/**
 * Lists the files `args` mean, in the order of the arguments and by name within each; `output`, if it lies in one of the folders, is left
 * out. Throws `MineruError` `file-unreadable` for an argument that means no file at all.
 */
export async function sourceFiles(args: readonly string[], output?: string): Promise<SourceFiles> {
  const walk: Walk = { seen: new Set(), problems: [] };
  if (output !== undefined) walk.seen.add(await realpath(output).catch(() => resolve(output)));
  const found = new Map<string, Found>();
  for (const argument of args) {
    const before = walk.problems.length;
    let any = false;
    for await (const file of expanded(argument, walk)) {
      any = true;
      const place = file.path === "-" ? "-" : resolve(file.path);
      if (!found.has(place)) found.set(place, file);
    }
    if (!any && walk.problems.length === before)
      throw new MineruError("file-unreadable", `${argument} expected to hold files to parse, got none (${[...EXTENSIONS].join(" ")})`);
  }
  return { files: named([...found.values()]), problems: walk.problems };
}

const folded = (name: string): string => name.normalize("NFC").toLowerCase();

function shortened(name: string): string {
  let cut = name;
  while (Buffer.byteLength(cut) > LONGEST_NAME_BYTES) cut = [...cut].slice(0, -1).join("");
  return cut;
}

/** Names as short as they can be: without the extension where that is unique, with it where not, at last with a number. */
function named(found: readonly Found[]): SourceFile[] {
  const places = found.map(({ path, below }) => {
    const full = below.split(sep).map(shortened).join("/");
    const extension = extname(full);
    return { path, full, bare: extension === "" ? full : full.slice(0, -extension.length) };
  });
  const bare = new NamePlaces();
  for (const place of places) bare.add(place.bare);
  const given = new NamePlaces();
  const names = new Map<string, string>();
  for (const { path, bare: name } of places) {
    if (bare.collides(name)) continue;
    given.add(name);
    names.set(path, name);
  }
  for (const { path, full } of places) {
    if (names.has(path)) continue;
    let name = full;
    for (let number = 2; given.has(name); number++) name = `${full}-${number}`;
    given.add(name);
    names.set(path, name);
  }
  return places.map(({ path }) => ({ path, name: names.get(path)! }));
}

/** Names and the folders above them. */
class NamePlaces {
  readonly #names = new Map<string, number>();
  readonly #folders = new Map<string, number>();

  add(name: string): void {
    const parts = folded(name).split("/");
    const count = (places: Map<string, number>, key: string) => places.set(key, (places.get(key) ?? 0) + 1);
    count(this.#names, parts.join("/"));
    for (let i = 1; i < parts.length; i++) count(this.#folders, parts.slice(0, i).join("/"));
  }

  /** Whether a name that was added shares its place with another, or is the folder of another. */
  collides(name: string): boolean {
    return this.#names.get(folded(name))! > 1 || this.#folders.has(folded(name));
  }

  /** Whether an output called `name` would share a place with one that was added, or lie within one, or hold one. */
  has(name: string): boolean {
    const parts = folded(name).split("/");
    return this.#folders.has(parts.join("/")) || parts.some((_, i) => this.#names.has(parts.slice(0, i + 1).join("/")));
  }
}
