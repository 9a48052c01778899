/** Request bodies, received no further than they may grow. */
import { clientGone, HttpFailure } from "./failure.ts";

const tooLarge = (limit: number): HttpFailure =>
  new HttpFailure(413, "too-large", `the request expected at most ${limit} bytes (--max-upload), got more`);

/** Bytes the body will have, as far as the client tells; `limit` if it does not. */
export function announcedBytes(request: Request, limit: number): number {
  const length = request.headers.get("content-length");
  if (length === null || request.headers.has("transfer-encoding")) return request.body ? limit : 0;
  const bytes = Number(length);
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw new HttpFailure(400, "invalid-request", "`content-length` expected a number");
  if (bytes > limit) throw tooLarge(limit);
  return bytes;
}

/**
 * The whole body.
 * @throws HttpFailure 413 beyond `limit`; the signal's reason.
 */
export async function readBody(request: Request, limit: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  if (!request.body) return new Uint8Array(0);
  const reader = request.body.getReader();
  const stop = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    while (true) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) break;
      size += value.length;
      if (size > limit) {
        stop();
        throw tooLarge(limit);
      }
      chunks.push(value);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HttpFailure) throw error;
    throw clientGone();
  } finally {
    signal.removeEventListener("abort", stop);
  }
  const body = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
