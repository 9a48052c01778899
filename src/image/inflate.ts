/**
 * Bounded zlib inflation on the platform's own `DecompressionStream` (Node and browsers), off the main thread where the platform does so.
 * It stops as soon as the wanted bytes are there, so a decompression bomb never unfolds. Knows nothing of what the bytes mean.
 */

/**
 * Inflates `parts` (one zlib stream in pieces) until `wanted` bytes came out. Returns fewer when the stream ends or breaks early, together
 * with what broke it; the caller decides what is missing.
 */
export async function inflateUpTo(parts: readonly Uint8Array[], wanted: number): Promise<{ bytes: Uint8Array; failure?: unknown }> {
  const stream = new DecompressionStream("deflate");
  const writer = stream.writable.getWriter();
  const writing = (async () => {
    for (const part of parts) await writer.write(part as Uint8Array<ArrayBuffer>);
    await writer.close();
  })();
  writing.catch(() => undefined);
  const reader = stream.readable.getReader();
  const bytes = new Uint8Array(wanted);
  let filled = 0;
  try {
    while (filled < wanted) {
      const { value, done } = await reader.read();
      if (done) break;
      const piece = value.length > wanted - filled ? value.subarray(0, wanted - filled) : value;
      bytes.set(piece, filled);
      filled += piece.length;
    }
  } catch (failure) {
    return { bytes: bytes.subarray(0, filled), failure };
  } finally {
    reader.cancel().catch(() => undefined);
  }
  return { bytes: bytes.subarray(0, filled) };
}

/** Deflates to one zlib stream, or to its bare contents, at the platform's default level. */
export async function deflate(bytes: Uint8Array, form: "deflate" | "deflate-raw" = "deflate"): Promise<Uint8Array> {
  const stream = new CompressionStream(form);
  const writer = stream.writable.getWriter();
  const writing = writer.write(bytes as Uint8Array<ArrayBuffer>).then(() => writer.close());
  const compressed = new Uint8Array(await new Response(stream.readable).arrayBuffer());
  await writing;
  return compressed;
}
