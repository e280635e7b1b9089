import { deserialize, serialize } from "node:v8";

const LENGTH_BYTES = 4;

/** Encodes a part of an answer as a structured clone, with its length before it. */
export function encodePart(part: unknown): Buffer {
  const clone = serialize(part);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(clone.length);
  return Buffer.concat([length, clone]);
}

/** Decodes the parts in a stream of bytes, each as soon as it has arrived. */
export async function* decodeParts(bytes: AsyncIterable<Buffer>): AsyncGenerator<unknown, void> {
  let arrived = Buffer.alloc(0);
  for await (const chunk of bytes) {
    arrived = Buffer.concat([arrived, chunk]);
    while (arrived.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + arrived.readUInt32LE();
      if (arrived.length < end) break;
      yield deserialize(arrived.subarray(LENGTH_BYTES, end));
      arrived = arrived.subarray(end);
    }
  }
}
