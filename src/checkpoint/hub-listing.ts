/**
 * What a hub says a repository holds: the commit and, for every file, path, size, address and the hash its content must have. Two
 * dialects: Hugging Face (and mirrors of its protocol) and ModelScope. A hub's word is checked before any of it becomes a file name.
 */

import { MineruError } from "../error.ts";
import type { Environment, Get } from "./hub-request.ts";

export interface RemoteFile {
  readonly path: string;
  readonly size: number;
  readonly url: string;
  /** SHA-256 of the content, or Git's SHA-1 of a blob for small files outside LFS; it also names the blob in the cache. */
  readonly hash: { readonly kind: "sha256" | "git-sha1"; readonly value: string };
}

export interface Listing {
  readonly commit: string;
  readonly files: readonly RemoteFile[];
}

export async function listHuggingFace(repo: string, revision: string, env: Environment, get: Get): Promise<Listing> {
  const endpoint = (env.HF_ENDPOINT || "https://huggingface.co").replace(/\/+$/, "");
  const url = `${endpoint}/api/models/${repo}/revision/${encodeURIComponent(revision)}?blobs=true`;
  const json = await jsonOf(await get(url), url);
  const { sha, siblings } = json as {
    sha?: string;
    siblings?: { rfilename: string; size?: number; blobId?: string; lfs?: { sha256: string; size: number } | null }[];
  };
  if (typeof sha !== "string" || !/^[\da-f]{40,64}$/.test(sha) || !Array.isArray(siblings)) throw unexpected(url, "a commit and its files");
  return {
    commit: sha,
    files: siblings.map(({ rfilename, size, blobId, lfs }) => {
      const hash = lfs ? ({ kind: "sha256", value: lfs.sha256 } as const) : ({ kind: "git-sha1", value: blobId ?? "" } as const);
      const path = rfilename.split("/").map(encodeURIComponent).join("/");
      return checked(url, { path: rfilename, size: lfs?.size ?? size ?? -1, hash, url: `${endpoint}/${repo}/resolve/${sha}/${path}` });
    }),
  };
}

/** ModelScope names no commit of the whole; the snapshot goes by the revision. */
export function modelscopeCommit(revision: string): string {
  return `modelscope-${revision.replaceAll("/", "--")}`;
}

export async function listModelscope(repo: string, revision: string, env: Environment, get: Get): Promise<Listing> {
  const endpoint = (env.MODELSCOPE_ENDPOINT || "https://www.modelscope.cn").replace(/\/+$/, "");
  const url = `${endpoint}/api/v1/models/${repo}/repo/files?${new URLSearchParams({ Revision: revision, Recursive: "true" })}`;
  const json = await jsonOf(await get(url), url);
  const files = (json as { Data?: { Files?: { Path: string; Size: number; Sha256: string; Type: string }[] } }).Data?.Files;
  if (!Array.isArray(files)) throw unexpected(url, "a list of files");
  return {
    commit: modelscopeCommit(revision),
    files: files
      .filter(({ Type }) => Type !== "tree")
      .map(({ Path, Size, Sha256 }) => {
        const query = new URLSearchParams({ Revision: revision, FilePath: Path });
        const hash = { kind: "sha256", value: Sha256 } as const;
        return checked(url, { path: Path, size: Size, hash, url: `${endpoint}/api/v1/models/${repo}/repo?${query}` });
      }),
  };
}

/** A hub's word on a path is not trusted to stay inside the snapshot, nor its hash to be a file name. */
function checked(url: string, file: RemoteFile): RemoteFile {
  const parts = file.path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..") || /[\\:\0]/.test(file.path))
    throw unexpected(url, "paths inside the repository");
  const length = file.hash.kind === "sha256" ? 64 : 40;
  const hashed = new RegExp(`^[\\da-f]{${length}}$`).test(file.hash.value);
  if (!hashed || !Number.isSafeInteger(file.size) || file.size < 0) throw unexpected(url, `size and hash of ${file.path}`);
  return file;
}

async function jsonOf(response: Response, url: string): Promise<unknown> {
  try {
    return await response.json();
  } catch (cause) {
    throw new MineruError("network-failed", `${url}: expected JSON; check HF_ENDPOINT and proxies`, { cause });
  }
}

function unexpected(url: string, what: string): MineruError {
  return new MineruError("network-failed", `${url}: expected ${what} in the answer; check HF_ENDPOINT and proxies`);
}
