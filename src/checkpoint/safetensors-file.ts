/**
 * Safetensors files on disk: tensors are read by range from an open handle, so a file may be larger than the 4 GiB that one buffer
 * can hold, and written piece by piece into a temporary neighbour that takes the place of the old file only when it is complete.
 * The format itself is in `safetensors.ts`.
 */

import { randomUUID } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { MineruError } from "../error.ts";
import { layOut, piecesOf, type TensorSource } from "./safetensors.ts";
import { readAtOnce, readSafetensors, type SafetensorsFile } from "./safetensors-reader.ts";

export type { SafetensorsFile } from "./safetensors-reader.ts";

/** Opens a file and reads its header. Throws `checkpoint-missing`, `file-unreadable` or `checkpoint-invalid`. */
export async function openSafetensors(path: string): Promise<SafetensorsFile> {
  const handle = await openHandle(path);
  const { size } = await handle.stat();
  return readSafetensors({
    path,
    size,
    read: (target, position) => readInto(handle, target, position, path),
    close: () => handle.close(),
  });
}

async function openHandle(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") {
      throw new MineruError("checkpoint-missing", `${path}: expected a safetensors file, got nothing there; check the path`, { cause });
    }
    throw unreadable(path, cause);
  }
}

async function readInto(handle: FileHandle, target: Uint8Array, position: number, path: string): Promise<void> {
  for (let done = 0; done < target.length; ) {
    const length = Math.min(readAtOnce, target.length - done);
    let bytesRead: number;
    try {
      ({ bytesRead } = await handle.read(target, done, length, position + done));
    } catch (cause) {
      throw unreadable(path, cause);
    }
    if (bytesRead === 0) {
      throw new MineruError(
        "checkpoint-invalid",
        `${path}: expected bytes at ${position + done}, got the end of the file: it was cut while open`,
      );
    }
    done += bytesRead;
  }
}

function unreadable(path: string, cause: unknown): MineruError {
  return new MineruError("file-unreadable", `${path}: expected a readable safetensors file; check that it is a file and its permissions`, {
    cause,
  });
}

/**
 * Writes a safetensors file: header, data in pieces, fsync, rename. An interrupted call leaves an old file at `path` untouched.
 * Throws RangeError for data that do not fit their shape, `output-unwritable` for a failing disk.
 */
export async function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, TensorSource>,
  metadata?: Readonly<Record<string, string>>,
): Promise<void> {
  const { header, order } = layOut(tensors, metadata);
  await writeAtomically(path, async (write) => {
    await write(header);
    for (const { name, source, byteLength } of order) {
      let written = 0;
      for await (const piece of piecesOf(source)) {
        written += piece.length;
        await write(piece);
      }
      if (written !== byteLength) throw new RangeError(`\`data\` of \`${name}\` expected ${byteLength} bytes, got ${written}`);
    }
  });
}

/** Lets `produce` write a temporary neighbour of `path` and puts it there when it is safely on disk. Throws `output-unwritable`. */
export async function writeAtomically(
  path: string,
  produce: (write: (bytes: Uint8Array) => Promise<void>) => Promise<void>,
): Promise<void> {
  const temporary = `${path}.${randomUUID()}.part`;
  const onDisk = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      throw new MineruError("output-unwritable", `${path}: could not be written; check the folder, its permissions and the free space`, {
        cause,
      });
    }
  };
  const handle = await onDisk(() => open(temporary, "wx"));
  try {
    try {
      await produce((bytes) => onDisk(() => writeFully(handle, bytes)));
      await onDisk(() => handle.sync());
    } finally {
      await handle.close();
    }
    await onDisk(() => rename(temporary, path));
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Makes the rename itself durable, where the platform lets a folder be synced (Windows does not). */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // The file is in place and complete; only its durability after a power cut is the platform's affair.
  }
}

async function writeFully(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, Math.min(readAtOnce, bytes.length - done));
    done += bytesWritten;
  }
}
