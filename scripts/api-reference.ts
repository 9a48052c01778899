/**
 * Writes `docs/api/` from the declarations that the compiler made: every export of every entry point with its comment and its shape. What is
 * not exported by an entry point is not part of the library.
 *
 *   npm run build && npx tsx scripts/api-reference.ts          # writes
 *   npx tsx scripts/api-reference.ts --check                   # ends with 1 where docs/api/ is out of date
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";

const root = new URL("../", import.meta.url).pathname;
const dist = join(root, "dist");

interface Entry {
  readonly name: string;
  readonly specifier: string;
  readonly file: string;
}

interface Export {
  readonly name: string;
  /** Source file below `src/`, without extension. */
  readonly from: string;
  readonly comment: string;
  readonly declaration: string;
}

function entries(): Entry[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports: Record<string, string | { types: string }>;
  };
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === "string"
      ? []
      : [{ name: path === "." ? "index" : path.slice(2), specifier: `mineru-diffusion${path.slice(1)}`, file: join(root, target.types) }],
  );
}

const parsed = new Map<string, ts.SourceFile>();
function sourceOf(file: string): ts.SourceFile {
  const known = parsed.get(file) ?? ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2022, true);
  parsed.set(file, known);
  return known;
}

const typesFile = (from: string, specifier: ts.Expression): string =>
  resolve(dirname(from), (specifier as ts.StringLiteral).text.replace(/\.(?:js|ts)$/, ".d.ts"));

function isExported(node: ts.Node): boolean {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false);
}

function namesOf(node: ts.Statement): string[] {
  if (ts.isVariableStatement(node)) return node.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = node as ts.Statement & { name?: ts.Identifier };
  return name ? [name.text] : [];
}

/** The comment before a declaration, as prose. */
function commentOf(node: ts.Node): string {
  const text = node.getSourceFile().text;
  const ranges = (ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []).filter(({ pos }) => text.startsWith("/**", pos));
  const last = ranges.at(-1);
  if (!last) return "";
  return text
    .slice(last.pos + 3, last.end - 2)
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trimEnd())
    .join("\n")
    .trim()
    .replace(/(^|\s)@throws /g, (_, before) => (before === "\n" ? "\n\nThrows " : `${before}Throws `))
    .replace(/\{@link (\w+)\}/g, "`$1`");
}

/** The declaration without what only the compiler needs. */
function declarationOf(node: ts.Node): string {
  return node
    .getText()
    .replace(/^export (?:declare )?/, "")
    .replace(/\n\s*(?:#private|private [^\n]*);/g, "")
    .replaceAll("    ", "  ");
}

function described(statement: ts.Statement, file: string, name: string): Export {
  const from = relative(dist, file).replace(/\.d\.ts$/, "");
  return { name, from, comment: commentOf(statement), declaration: declarationOf(statement) };
}

/** Declarations of `name` that `file` exports, through as many files as it takes, under the name `as`. */
function find(file: string, name: string, as: string): Export[] {
  return sourceOf(file).statements.flatMap((statement) => {
    if (isExported(statement) && namesOf(statement).includes(name)) return [described(statement, file, as)];
    return ts.isExportDeclaration(statement) ? reexported(file, statement, { name, as }) : [];
  });
}

/** What an export statement hands on: all of it, or the one wanted. */
function reexported(
  file: string,
  { exportClause, moduleSpecifier }: ts.ExportDeclaration,
  wanted: { readonly name: string; readonly as: string } | null,
): Export[] {
  const from = moduleSpecifier ? typesFile(file, moduleSpecifier) : null;
  if (!exportClause) return wanted === null ? all(from!) : find(from!, wanted.name, wanted.as);
  if (!ts.isNamedExports(exportClause)) return [];
  return exportClause.elements.flatMap((element) => {
    const given = element.name.text;
    if (wanted !== null && given !== wanted.name) return [];
    const [original, as] = [element.propertyName?.text ?? given, wanted?.as ?? given];
    if (from) return find(from, original, as);
    const local = sourceOf(file).statements.find((statement) => namesOf(statement).includes(original));
    if (local) return [described(local, file, as)];
    const imported = sourceOf(file).statements.find(
      (statement): statement is ts.ImportDeclaration => ts.isImportDeclaration(statement) && statement.getText().includes(original),
    );
    return imported ? find(typesFile(file, imported.moduleSpecifier), original, as) : [];
  });
}

/** Everything `file` exports. */
function all(file: string): Export[] {
  return sourceOf(file).statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return reexported(file, statement, null);
    return isExported(statement) ? namesOf(statement).flatMap((name) => find(file, name, name)) : [];
  });
}

/** The comment that opens an entry point, its example as code. */
function introduction(file: string): string {
  const text = readFileSync(join(root, "src", relative(dist, file).replace(/\.d\.ts$/, ".ts")), "utf8");
  const comment = /^\/\*\*([\s\S]*?)\*\//.exec(text)?.[1] ?? "";
  const lines = comment.split("\n").flatMap((line) => line.replace(/^\s*\* ?/, "").trimEnd() || []);
  const prose = lines.filter((line) => !line.startsWith("  ")).map((line) => line.trim());
  const code = lines.filter((line) => line.startsWith("  ")).map((line) => line.slice(2));
  return `${prose.join("\n")}${code.length > 0 ? `\n\n\`\`\`ts\n${code.join("\n")}\n\`\`\`` : ""}`;
}

const byName = (a: { name: string }, b: { name: string }): number => a.name.localeCompare(b.name, "en");
const notice = "<!-- Written by scripts/api-reference.ts; not to be edited. -->";

function pageOf({ specifier, file }: Entry, exports: readonly Export[]): string {
  const sections = [...new Map(exports.map((each) => [`${each.name}\n${each.declaration}`, each])).values()].sort(byName);
  const parts = sections.map(
    ({ name, from, comment, declaration }) =>
      `## ${name}\n\n${comment === "" ? "" : `${comment}\n\n`}\`\`\`ts\n${declaration}\n\`\`\`\n\nFrom [\`src/${from}.ts\`](../../src/${from}.ts).\n`,
  );
  return `# ${specifier}\n\n${notice}\n\n${introduction(file)}\n\n${parts.join("\n")}`;
}

/** File name → content. */
function reference(): Map<string, string> {
  const pages = new Map<string, string>();
  const lists: string[] = [];
  for (const entry of entries()) {
    const exports = all(entry.file);
    pages.set(`${entry.name}.md`, pageOf(entry, exports));
    const names = [...new Set([...exports].sort(byName).map(({ name }) => name))];
    lists.push(`## ${entry.specifier}\n\n${names.map((name) => `[${name}](${entry.name}.md#${name.toLowerCase()})`).join(" · ")}\n`);
  }
  const head = `# API\n\n${notice}\n\nEverything that can be imported, drawn from the comments in the code. How to begin: [guides](../guides/first-page.md).\n`;
  pages.set("README.md", `${head}\n${lists.join("\n")}`);
  return pages;
}

const target = join(root, "docs/api");
const pages = reference();
if (process.argv.includes("--check")) {
  const stale = [...pages].filter(([name, text]) => !existsSync(join(target, name)) || readFileSync(join(target, name), "utf8") !== text);
  const surplus = existsSync(target) ? readdirSync(target).filter((name) => !pages.has(name)) : [];
  for (const name of [...stale.map(([each]) => each), ...surplus])
    console.log(`docs/api/${name} is out of date: npm run build && npx tsx scripts/api-reference.ts`);
  process.exitCode = stale.length + surplus.length > 0 ? 1 : 0;
} else {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  for (const [name, text] of pages) writeFileSync(join(target, name), text);
}
