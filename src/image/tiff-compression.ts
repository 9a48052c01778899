/**
 * The byte-oriented compressions inside TIFF strips and tiles: PackBits and LZW (TIFF 6.0, sections 9 and 13), and the horizontal predictor
 * (section 14). Each unpacks at most the wanted bytes and returns fewer when the data end early. Knows nothing of pictures.
 */

/** PackBits: a signed count, then literal bytes or one byte repeated. */
export function unpackBits(bytes: Uint8Array, wanted: number): Uint8Array {
  const output = new Uint8Array(wanted);
  let filled = 0;
  for (let at = 0; at < bytes.length && filled < wanted; ) {
    const control = bytes[at++];
    if (control === 128) continue;
    if (control < 128) {
      const literal = bytes.subarray(at, Math.min(at + control + 1, at + wanted - filled));
      output.set(literal, filled);
      filled += literal.length;
      at += control + 1;
    } else {
      const run = Math.min(257 - control, wanted - filled);
      if (at >= bytes.length) break;
      output.fill(bytes[at++], filled, filled + run);
      filled += run;
    }
  }
  return output.subarray(0, filled);
}

const CLEAR = 256;
const END = 257;
const MAX_CODES = 4096;

/** TIFF's LZW: codes most significant bit first, widened one code early. */
export function inflateTiffLzw(bytes: Uint8Array, wanted: number): Uint8Array {
  const output = new Uint8Array(wanted);
  // An entry is a stretch of earlier output: where it starts and how long it is.
  const start = new Uint32Array(MAX_CODES);
  const length = new Uint32Array(MAX_CODES);
  let filled = 0;
  let [next, size, previousStart, previousLength] = [END + 1, 9, 0, 0];
  let [buffer, bits, at] = [0, 0, 0];
  while (filled < wanted) {
    while (bits < size && at < bytes.length) {
      buffer = ((buffer << 8) | bytes[at++]) & 0xffffff;
      bits += 8;
    }
    if (bits < size) break;
    const code = (buffer >> (bits - size)) & ((1 << size) - 1);
    bits -= size;
    if (code === END) break;
    if (code === CLEAR) {
      [next, size, previousLength] = [END + 1, 9, 0];
      continue;
    }
    if (code > next || (code === next && previousLength === 0) || (code > END && code < next && length[code] === 0)) break;
    if (previousLength > 0 && next < MAX_CODES) {
      start[next] = previousStart;
      length[next] = previousLength + 1; // its last byte is the first of what is written now
      next++;
      if (next === (1 << size) - 1 && size < 12) size++;
    }
    const written = filled;
    if (code < CLEAR) output[filled++] = code;
    else for (let i = 0; i < length[code] && filled < wanted; i++) output[filled++] = output[start[code] + i];
    previousStart = written;
    previousLength = filled - written;
  }
  return output.subarray(0, filled);
}

/** Undoes horizontal differencing in place: `[rows, columns, samples]` of 8 or 16-bit samples. */
export function undoPredictor(bytes: Uint8Array, rowBytes: number, samples: number, depth: number, littleEndian: boolean): void {
  for (let row = 0; row + rowBytes <= bytes.length; row += rowBytes) {
    if (depth === 8) {
      for (let i = row + samples; i < row + rowBytes; i++) bytes[i] += bytes[i - samples];
      continue;
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset + row, rowBytes);
    for (let i = samples * 2; i + 1 < rowBytes; i += 2)
      view.setUint16(i, view.getUint16(i, littleEndian) + view.getUint16(i - samples * 2, littleEndian), littleEndian);
  }
}
