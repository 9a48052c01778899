import { createHash, randomBytes } from "node:crypto";
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { cacheFolder, type DownloadProgress, downloadCheckpoint } from "./hub.ts";

const commit = "0123456789abcdef0123456789abcdef01234567";
const weights = randomBytes(300_000);
const contents: Record<string, Buffer> = {
  "config.json": Buffer.from('{"a": 1}'),
  "model.safetensors": weights,
  "modeling.py": Buffer.from("print()"),
  "onnx/model.safetensors": Buffer.from("other"),
};
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const gitSha1 = (bytes: Buffer) => createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");

/** A hub of one repository whose behaviour a test may bend. */
let server: Server;
let endpoint: string;
let requests: { url: string; range?: string; authorization?: string }[];
let bend: (request: IncomingMessage, response: ServerResponse, bytes: Buffer) => boolean;

function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url!, endpoint);
  requests.push({ url: url.pathname, range: request.headers.range, authorization: request.headers.authorization });
  if (url.pathname.startsWith("/api/models/owner/name/revision/")) {
    if (bend(request, response, Buffer.alloc(0))) return;
    if (!url.pathname.endsWith("/main") && !url.pathname.endsWith(commit)) return void response.writeHead(404).end();
    const siblings = Object.entries(contents).map(([rfilename, bytes]) =>
      rfilename.endsWith(".safetensors")
        ? { rfilename, size: bytes.length, blobId: "f".repeat(40), lfs: { sha256: sha256(bytes), size: bytes.length, pointerSize: 134 } }
        : { rfilename, size: bytes.length, blobId: gitSha1(bytes) },
    );
    return void response.end(JSON.stringify({ sha: commit, siblings }));
  }
  if (url.pathname === "/api/v1/models/owner/name/repo/files") {
    const Files = Object.entries(contents).map(([Path, bytes]) => ({ Path, Size: bytes.length, Sha256: sha256(bytes), Type: "blob" }));
    return void response.end(
      JSON.stringify({ Code: 200, Data: { Files: [...Files, { Path: "onnx", Size: 0, Sha256: "", Type: "tree" }] } }),
    );
  }
  const name = url.searchParams.get("FilePath") ?? url.pathname.replace(`/owner/name/resolve/${commit}/`, "");
  const bytes = contents[name];
  if (bytes === undefined) return void response.writeHead(404).end();
  if (bend(request, response, bytes)) return;
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
  if (start === 0) return void response.end(bytes);
  response.writeHead(206, { "content-range": `bytes ${start}-${bytes.length - 1}/${bytes.length}` }).end(bytes.subarray(start));
}

beforeAll(async () => {
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

let home: string;
beforeEach(async () => {
  requests = [];
  bend = () => false;
  home = await mkdtemp(join(tmpdir(), "hub-"));
});
afterEach(() => rm(home, { recursive: true }));

const env = (more: Record<string, string> = {}) => ({ HF_ENDPOINT: `${endpoint}/`, MODELSCOPE_ENDPOINT: endpoint, HF_HOME: home, ...more });
const quick = { attempts: 3, retryDelayMs: 1 };
const download = (options: Parameters<typeof downloadCheckpoint>[1] = {}) =>
  downloadCheckpoint("owner/name", { env: env(), ...quick, ...options });
const repoFolder = () => join(home, "hub/models--owner--name");
const fetched = (name: string) => requests.filter(({ url }) => url.endsWith(name));

describe("a download", () => {
  it("lays the cache out as huggingface_hub does and fetches nothing twice", async () => {
    const seen: DownloadProgress[] = [];
    const snapshot = await download({ onProgress: (progress) => seen.push(progress) });
    expect(snapshot).toBe(join(repoFolder(), "snapshots", commit));
    expect((await readdir(snapshot)).sort()).toEqual(["config.json", "model.safetensors"]);
    expect(await readlink(join(snapshot, "model.safetensors"))).toBe(`../../blobs/${sha256(weights)}`);
    expect(await readlink(join(snapshot, "config.json"))).toBe(`../../blobs/${gitSha1(contents["config.json"])}`);
    expect((await readFile(join(snapshot, "model.safetensors"))).equals(weights)).toBe(true);
    expect(await readFile(join(repoFolder(), "refs/main"), "utf8")).toBe(commit);
    expect(await readdir(join(repoFolder(), "blobs"))).toHaveLength(2);
    const total = weights.length + contents["config.json"].length;
    expect(seen.at(-1)).toEqual({
      file: "model.safetensors",
      fileBytes: 300_000,
      fileTotalBytes: 300_000,
      bytes: total,
      totalBytes: total,
    });
    for (let i = 1; i < seen.length; i++) expect(seen[i].bytes).toBeGreaterThanOrEqual(seen[i - 1].bytes);

    requests = [];
    expect(await download()).toBe(snapshot);
    expect(requests).toHaveLength(1);
  });

  it("fetches what it is asked to, in folders too", async () => {
    const snapshot = await download({ wants: (path) => path.startsWith("onnx/"), revision: commit });
    expect(await readlink(join(snapshot, "onnx/model.safetensors"))).toBe(`../../../blobs/${sha256(contents["onnx/model.safetensors"])}`);
    await expect(lstat(join(repoFolder(), "refs"))).rejects.toThrow();
  });

  it("goes on after a broken connection where it ended", async () => {
    let broken = 0;
    bend = (request, response, bytes) => {
      if (bytes !== weights || broken === 2) return false;
      const start = Number(/\d+/.exec(request.headers.range ?? "0")?.[0]);
      response.writeHead(start ? 206 : 200, {
        "content-length": bytes.length - start,
        "content-range": `bytes ${start}-${bytes.length - 1}/${bytes.length}`,
      });
      response.write(bytes.subarray(start, start + 100_000), () => setTimeout(() => response.destroy(), 20));
      broken++;
      return true;
    };
    const snapshot = await download();
    expect((await readFile(join(snapshot, "model.safetensors"))).equals(weights)).toBe(true);
    expect(fetched("model.safetensors").map(({ range }) => range)).toEqual([undefined, "bytes=100000-", "bytes=200000-"]);
  });

  it("goes on in a later call, and starts again with a server that knows no ranges", async () => {
    await mkdir(join(repoFolder(), "blobs"), { recursive: true });
    const partial = join(repoFolder(), "blobs", `${sha256(weights)}.incomplete`);
    await writeFile(partial, weights.subarray(0, 1000));
    await download();
    expect(fetched("model.safetensors")[0].range).toBe("bytes=1000-");

    await rm(repoFolder(), { recursive: true });
    await mkdir(join(repoFolder(), "blobs"), { recursive: true });
    await writeFile(partial, weights.subarray(0, 1000));
    bend = (_, response, bytes) => bytes === weights && response.end(bytes) !== undefined;
    const snapshot = await download();
    expect((await readFile(join(snapshot, "model.safetensors"))).equals(weights)).toBe(true);
  });

  it("throws damaged content away and asks again", async () => {
    await mkdir(join(repoFolder(), "blobs"), { recursive: true });
    await writeFile(join(repoFolder(), "blobs", `${sha256(weights)}.incomplete`), Buffer.alloc(1000));
    const snapshot = await download();
    expect((await readFile(join(snapshot, "model.safetensors"))).equals(weights)).toBe(true);
    expect(fetched("model.safetensors").map(({ range }) => range)).toEqual(["bytes=1000-", undefined]);
  });

  it("gives up on content that stays damaged, keeping nothing of it", async () => {
    bend = (_, response, bytes) => bytes === weights && response.end(Buffer.alloc(bytes.length)) !== undefined;
    await expect(download()).rejects.toMatchObject({ code: "network-failed", message: expect.stringContaining(`hash ${sha256(weights)}`) });
    expect(await readdir(join(repoFolder(), "blobs"))).toEqual([gitSha1(contents["config.json"])]);
  });

  it("stops when told to, leaving what it has for the next call", async () => {
    const controller = new AbortController();
    bend = (_, response, bytes) => {
      if (bytes !== weights) return false;
      response.writeHead(200, { "content-length": bytes.length });
      response.write(bytes.subarray(0, 50_000));
      return true;
    };
    const reason = new Error("enough");
    const onProgress = ({ file, fileBytes }: DownloadProgress) => {
      if (file === "model.safetensors" && fileBytes === 50_000) controller.abort(reason);
    };
    await expect(download({ signal: controller.signal, onProgress })).rejects.toBe(reason);
    bend = () => false;
    requests = [];
    await download();
    expect(fetched("model.safetensors")[0].range).toBe("bytes=50000-");
  });

  it("signs requests with the token of the environment or of the stored login", async () => {
    await download({ env: env({ HF_TOKEN: "secret" }) });
    expect(requests.every(({ authorization }) => authorization === "Bearer secret")).toBe(true);
    await writeFile(join(home, "token"), "stored\n");
    requests = [];
    await download();
    expect(requests[0].authorization).toBe("Bearer stored");
  });

  it("tries again when the hub is busy", async () => {
    let refused = 0;
    bend = (_, response, bytes) => bytes.length === 0 && refused++ < 2 && response.writeHead(503).end() !== undefined;
    await download();
    expect(refused).toBe(3);
  });

  it("reads ModelScope's listing too", async () => {
    const snapshot = await download({ source: "modelscope" });
    expect((await readdir(snapshot)).sort()).toEqual(["config.json", "model.safetensors"]);
    expect(await readlink(join(snapshot, "config.json"))).toBe(`../../blobs/${sha256(contents["config.json"])}`);
    expect(await downloadCheckpoint("owner/name", { env: env({ HF_HUB_OFFLINE: "1" }), source: "modelscope" })).toBe(snapshot);
    expect(await readdir(repoFolder())).not.toContain("refs");
  });
});

describe("without a hub", () => {
  const unreachable = { HF_ENDPOINT: "http://127.0.0.1:1" };

  it("offers the snapshot of an earlier call", async () => {
    const snapshot = await download();
    expect(await download({ env: env({ HF_HUB_OFFLINE: "1", ...unreachable }) })).toBe(snapshot);
    expect(await download({ env: env(unreachable) })).toBe(snapshot);
    expect(await download({ env: env({ HF_HUB_OFFLINE: "yes" }), revision: commit })).toBe(snapshot);
  });

  it("says so when there is none", async () => {
    await expect(download({ env: env({ HF_HUB_OFFLINE: "1" }) })).rejects.toMatchObject({
      code: "network-failed",
      message: expect.stringContaining("HF_HUB_OFFLINE"),
    });
    expect(requests).toHaveLength(0);
    await expect(download({ env: env(unreachable) })).rejects.toMatchObject({
      code: "network-failed",
      message: expect.stringContaining("HF_ENDPOINT"),
    });
  });
});

describe("a refusal", () => {
  it("names what is not there, not allowed, not a hub or not safe", async () => {
    await expect(download({ revision: "nope" })).rejects.toMatchObject({ code: "checkpoint-missing" });
    bend = (_, response) => response.writeHead(401).end() !== undefined;
    await mkdir(join(repoFolder(), "snapshots/main/old"), { recursive: true });
    await expect(download()).rejects.toMatchObject({ code: "network-failed", message: expect.stringContaining("HF_TOKEN") });
    bend = (_, response) => response.end("<html>") !== undefined;
    await expect(download()).rejects.toThrow("expected JSON");
    bend = (_, response) => response.end("{}") !== undefined;
    await expect(download()).rejects.toThrow("expected a commit and its files");
    const listing = (file: object) =>
      (bend = (_, response) => response.end(JSON.stringify({ sha: commit, siblings: [file] })) !== undefined);
    listing({ rfilename: "../evil.json", size: 1, blobId: "a".repeat(40) });
    await expect(download()).rejects.toThrow("paths inside the repository");
    listing({ rfilename: "a.json", size: 1, blobId: "../../evil" });
    await expect(download()).rejects.toThrow("size and hash of a.json");
    await expect(downloadCheckpoint("name")).rejects.toThrow('`repo` expected "owner/name"');
    await expect(download({ revision: "../x" })).rejects.toThrow("`revision` expected");
  });

  it("is told apart from a cache that cannot be written", async () => {
    await writeFile(join(home, "hub"), "");
    await expect(download()).rejects.toMatchObject({ code: "output-unwritable", message: expect.stringContaining("HF_HUB_CACHE") });
  });
});

it("finds the cache where huggingface_hub keeps it", () => {
  expect(cacheFolder({ HF_HUB_CACHE: "/a", HF_HOME: "/b" })).toBe("/a");
  expect(cacheFolder({ HF_HOME: "/b" })).toBe("/b/hub");
  expect(cacheFolder({ XDG_CACHE_HOME: "/c" })).toBe("/c/huggingface/hub");
  expect(cacheFolder({})).toMatch(/\.cache\/huggingface\/hub$/);
});
