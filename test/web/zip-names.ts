/** Names in a ZIP archive, by its directory. */
export function namesInZip(archive: Buffer): string[] {
  const end = archive.length - 22;
  const names: string[] = [];
  for (let at = archive.readUInt32LE(end + 16); at < end; ) {
    const length = archive.readUInt16LE(at + 28);
    names.push(archive.toString("utf8", at + 46, at + 46 + length));
    at += 46 + length;
  }
  return names;
}
