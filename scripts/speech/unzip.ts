import { inflateRawSync } from "node:zlib";

const END_OF_DIRECTORY = 0x06054b50;
const ENTRY = 0x02014b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const DEFLATED = 8;

function findDirectory(zip: Buffer): number {
  for (let at = zip.length - END_BYTES; at >= 0; at--) if (zip.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  throw new Error("this is not a zip archive, or its end is missing");
}

/** Returns the files of a zip archive (up to 4 GB, not encrypted) by name, each a function that unpacks it. */
export function unzip(zip: Buffer): Map<string, () => Buffer> {
  const end = findDirectory(zip);
  const files = new Map<string, () => Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    if (zip.readUInt32LE(at) !== ENTRY) throw new Error("the zip archive's list of files is damaged");
    const [method, size, local] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 20), zip.readUInt32LE(at + 42)];
    const nameEnd = at + ENTRY_BYTES + zip.readUInt16LE(at + 28);
    files.set(zip.toString("utf8", at + ENTRY_BYTES, nameEnd), () => {
      const start = local + LOCAL_BYTES + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const packed = zip.subarray(start, start + size);
      return method === DEFLATED ? inflateRawSync(packed) : packed;
    });
    at = nameEnd + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return files;
}
