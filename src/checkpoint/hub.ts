/**
 * Download of a model folder from the Hugging Face hub, or a mirror that speaks its protocol, into the cache that Python's
 * huggingface_hub uses (blobs by hash, snapshots of links, refs), so that either finds what the other fetched. Interrupted files are
 * resumed by range, every file is checked against the hash the hub states before it takes its place, and one that is there already is
 * not fetched again. ModelScope lists its files in its own way and is read as a second source. What the files mean is not known here.
 */

import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { MineruError } from "../error.ts";
import { type Listing, listHuggingFace, listModelscope, modelscopeCommit, type RemoteFile } from "./hub-listing.ts";
import { type Environment, type Get, hubHome, type Patience, requester, Transient, tokenOf, withAttempts } from "./hub-request.ts";

/** Hubs that checkpoints can be fetched from. */
export type HubSource = "huggingface" | "modelscope";

/** How far a download is. */
export interface DownloadProgress {
  /** Path of the file in the repository. */
  readonly file: string;
  readonly fileBytes: number;
  readonly fileTotalBytes: number;
  /** Over all files, those already there included. */
  readonly bytes: number;
  readonly totalBytes: number;
}

/** Which files of a repository are fetched, from where, and how patiently. */
export interface DownloadOptions extends Patience {
  /** Branch, tag or commit; "main" ("master" on ModelScope) unless told otherwise. */
  readonly revision?: string;
  readonly source?: HubSource;
  /** Which files to fetch; by default weights, configs and tokenizer files, never code. */
  readonly wants?: (path: string) => boolean;
  readonly onProgress?: (progress: DownloadProgress) => void;
  /** Variables to go by: HF_ENDPOINT, HF_HOME, HF_HUB_CACHE, HF_TOKEN, HF_TOKEN_PATH, HF_HUB_OFFLINE, MODELSCOPE_ENDPOINT. */
  readonly env?: Environment;
}

const wantedByDefault = (path: string) => /\.(safetensors|json|jinja|txt|model)$/.test(path) && !path.includes("/");

/**
 * Fetches `repo` ("owner/name") and returns the path of its snapshot folder. Offline (HF_HUB_OFFLINE), or when the hub cannot be
 * reached, a snapshot from an earlier call is returned if there is one.
 * Throws `network-failed` (no hub and no snapshot, a refused request, a wrong hash after all attempts), `checkpoint-missing` for a
 * repository or revision that is not there, `output-unwritable` for the cache, and the signal's reason when aborted.
 */
export async function downloadCheckpoint(repo: string, options: DownloadOptions = {}): Promise<string> {
  if (!/^[\w.-]+\/[\w.-]+$/.test(repo) || repo.includes(".."))
    throw new RangeError(`\`repo\` expected "owner/name", got ${JSON.stringify(repo)}`);
  const { source = "huggingface", env = process.env, signal } = options;
  const revision = options.revision ?? (source === "modelscope" ? "master" : "main");
  if (revision.includes("..") || revision === "")
    throw new RangeError(`\`revision\` expected a branch, tag or commit, got ${JSON.stringify(revision)}`);
  const repoFolder = join(cacheFolder(env), `models--${repo.replace("/", "--")}`);
  const cached = () => cachedSnapshot(repoFolder, source === "modelscope" ? modelscopeCommit(revision) : revision);
  const get = requester(options, source === "huggingface" ? await tokenOf(env) : undefined);

  if (isSet(env.HF_HUB_OFFLINE) || isSet(env.TRANSFORMERS_OFFLINE)) {
    const snapshot = await cached();
    if (snapshot !== undefined) return snapshot;
    throw new MineruError(
      "network-failed",
      `${repo}: HF_HUB_OFFLINE is set and ${repoFolder} holds no snapshot of "${revision}"; unset it once to download`,
    );
  }
  let listing: Listing;
  try {
    listing = await (source === "modelscope" ? listModelscope : listHuggingFace)(repo, revision, env, get);
  } catch (error) {
    const snapshot = error instanceof Transient && !signal?.aborted ? await cached() : undefined;
    if (snapshot !== undefined) return snapshot;
    throw error;
  }

  const files = listing.files.filter(({ path }) => (options.wants ?? wantedByDefault)(path));
  const snapshot = join(repoFolder, "snapshots", listing.commit);
  const totalBytes = files.reduce((sum, { size }) => sum + size, 0);
  let before = 0;
  await onDisk(repoFolder, async () => {
    await mkdir(join(repoFolder, "blobs"), { recursive: true });
    await mkdir(snapshot, { recursive: true });
  });
  for (const file of files) {
    const report = (fileBytes: number) =>
      options.onProgress?.({ file: file.path, fileBytes, fileTotalBytes: file.size, bytes: before + fileBytes, totalBytes });
    const blob = join(repoFolder, "blobs", file.hash.value);
    if ((await sizeOf(blob)) !== file.size) await fetchBlob(file, blob, get, report, options);
    report(file.size);
    await onDisk(repoFolder, () => link(blob, join(snapshot, file.path)));
    before += file.size;
  }
  if (source === "huggingface" && listing.commit !== revision) {
    const ref = join(repoFolder, "refs", revision);
    await onDisk(repoFolder, async () => {
      await mkdir(dirname(ref), { recursive: true });
      await writeFile(ref, listing.commit);
    });
  }
  return snapshot;
}

/** The hub cache folder that the variables name, as huggingface_hub finds it. */
export function cacheFolder(env: Environment = process.env): string {
  return env.HF_HUB_CACHE || env.HUGGINGFACE_HUB_CACHE || join(hubHome(env), "hub");
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && ["1", "ON", "YES", "TRUE"].includes(value.toUpperCase());
}

async function cachedSnapshot(repoFolder: string, revision: string): Promise<string | undefined> {
  const commit = await readFile(join(repoFolder, "refs", revision), "utf8").catch(() => revision);
  const snapshot = join(repoFolder, "snapshots", commit.trim());
  const names = await readdir(snapshot).catch(() => []);
  return names.length > 0 ? snapshot : undefined;
}

/** Fetches one file into `<blob>.incomplete`, going on where an earlier attempt or call ended, and moves it in place when its hash is right. */
async function fetchBlob(
  file: RemoteFile,
  blob: string,
  get: Get,
  report: (bytes: number) => void,
  options: DownloadOptions,
): Promise<void> {
  const partial = `${blob}.incomplete`;
  await withAttempts(options, async () => {
    const hash = file.hash.kind === "sha256" ? createHash("sha256") : createHash("sha1").update(`blob ${file.size}\0`);
    const handle = await onDisk(partial, () => open(partial, "a"));
    try {
      await receive(file, partial, handle, hash, get, report, options.signal);
      await onDisk(partial, () => handle.sync());
    } finally {
      await handle.close();
    }
    const found = hash.digest("hex");
    if (found !== file.hash.value) {
      await rm(partial, { force: true });
      throw new Transient(`${file.url}: expected content with hash ${file.hash.value}, got ${found}; the download was damaged on the way`);
    }
  });
  await onDisk(blob, () => rename(partial, blob));
}

async function receive(
  file: RemoteFile,
  partial: string,
  handle: FileHandle,
  hash: Hash,
  get: Get,
  report: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  let done = (await handle.stat()).size;
  if (done > file.size) {
    await handle.truncate(0);
    done = 0;
  }
  let answer: Response | undefined;
  if (done < file.size) {
    answer = await get(file.url, done > 0 ? { range: `bytes=${done}-` } : {});
    if (done > 0 && !continues(answer, done)) {
      await handle.truncate(0);
      done = 0;
      if (answer.status !== 200) {
        await answer.body?.cancel();
        answer = await get(file.url);
      }
    }
  }
  if (done > 0) for await (const piece of createReadStream(partial, { end: done - 1 })) hash.update(piece as Buffer);
  report(done);
  if (answer === undefined) return;
  if (answer.body === null) throw new Transient(`${file.url}: expected content, got none`);
  try {
    // The browser's typing of a body, which is in force here, does not say that it can be iterated.
    for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
      await onDisk(partial, () => handle.appendFile(piece));
      hash.update(piece);
      done += piece.length;
      report(Math.min(done, file.size));
    }
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof MineruError) throw cause;
    throw new Transient(`${file.url}: the connection broke after ${done} of ${file.size} bytes; call again to go on from there`, cause);
  }
  if (done < file.size) throw new Transient(`${file.url}: expected ${file.size} bytes, got ${done}; call again to go on from there`);
}

/** Whether the answer is the rest from byte `start` on. */
function continues(response: Response, start: number): boolean {
  return response.status === 206 && response.headers.get("content-range")?.startsWith(`bytes ${start}-`) === true;
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}

/** Puts a relative link to the blob at `path`, or a copy where links are not allowed (Windows without developer mode). */
async function link(blob: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true });
  try {
    await symlink(relative(dirname(path), blob), path);
  } catch (error) {
    if (!["EPERM", "ENOSYS", "EINVAL"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await copyFile(blob, path);
  }
}

async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new MineruError(
      "output-unwritable",
      `${path}: could not be written; check the folder (HF_HUB_CACHE names another) and the free space`,
      { cause },
    );
  }
}
