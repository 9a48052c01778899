/**
 * A checkpoint at an address: what a browser reads. All of it is fetched at once and kept in memory, weights as they are stored. What a
 * checkpoint is stands in `checkpoint.ts`.
 */
import { MineruError } from "../error.ts";
import { type Checkpoint, indexFileName, readCheckpoint, singleFileName } from "./checkpoint.ts";
import { memorySource, readSafetensors } from "./safetensors-reader.ts";

/** How far the fetching of a checkpoint's files is. */
export interface FetchProgress {
  /** Bytes of the weights so far. */
  readonly loaded: number;
  /** Of how many; 0 if the server does not say. */
  readonly total: number;
}

export interface FetchCheckpointOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: FetchProgress) => void;
}

/** Files a checkpoint may have besides its weights. */
const SETTINGS = ["config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json", "tokenizer_config.json"];
const TEMPLATE = "chat_template.jinja";
/** What stands in for a tokenizer.json. */
const OLDER_TOKENIZER = ["vocab.json", "merges.txt", "added_tokens.json"];

/** Opens the checkpoint below `url`. Throws `checkpoint-missing`, `checkpoint-invalid` or `network-failed`; the signal's reason. */
export async function fetchCheckpoint(url: string | URL, options: FetchCheckpointOptions = {}): Promise<Checkpoint> {
  const { signal, onProgress } = options;
  const dir = String(url).replace(/\/+$/, "");
  const placeOf = (name: string): string => `${dir}/${name}`;
  const files = new Map<string, Uint8Array>();
  /** Fetches a file if it is there. */
  const take = async (name: string, follow?: FetchCheckpointOptions["onProgress"]): Promise<boolean> => {
    const bytes = await fetchFile(placeOf(name), signal, follow);
    if (bytes) files.set(name, bytes);
    return bytes !== null;
  };
  const settings = Promise.all([...SETTINGS, TEMPLATE].map((name) => take(name)));
  const weights = take(singleFileName, onProgress);
  await settings;
  if (!files.has("tokenizer.json")) await Promise.all(OLDER_TOKENIZER.map((name) => take(name)));
  if (!(await weights) && (await take(indexFileName))) {
    const { weight_map = {} } = JSON.parse(textOf(files.get(indexFileName)!)) as { weight_map?: Record<string, string> };
    for (const shard of new Set(Object.values(weight_map))) await take(shard, onProgress);
  }
  const weightsInMemory = new Map([...files].filter(([name]) => name.endsWith(".safetensors")));
  return readCheckpoint({
    dir,
    names: new Set(files.keys()),
    placeOf,
    text: async (name) => textOf(files.get(name)!),
    openWeights: (name) => readSafetensors(memorySource(placeOf(name), files.get(name)!)),
    weights: { weightsInMemory },
  });
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** The bytes at an address, null if there is nothing. */
async function fetchFile(
  address: string,
  signal: AbortSignal | undefined,
  follow: FetchCheckpointOptions["onProgress"],
): Promise<Uint8Array | null> {
  try {
    const response = await fetch(address, { signal });
    if (response.status === 404) return null;
    if (!response.ok) throw new Error(`status ${response.status}`);
    return follow ? await readFollowed(response, follow) : new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    signal?.throwIfAborted();
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new MineruError("network-failed", `${address} could not be fetched: ${why}; check the address and the connection`, { cause });
  }
}

async function readFollowed(response: Response, follow: (progress: FetchProgress) => void): Promise<Uint8Array> {
  // A compressed body has more bytes than its length says.
  const total = response.headers.has("content-encoding") ? 0 : Number(response.headers.get("content-length") ?? 0);
  const parts: Uint8Array[] = [];
  let loaded = 0;
  for (const reader = response.body!.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    loaded += value.length;
    follow({ loaded, total });
  }
  const bytes = new Uint8Array(loaded);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
