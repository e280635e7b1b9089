// Field numbers of onnx.proto, with their wire type.
const GRAPH = (7 << 3) | 2;
const GRAPH_OUTPUT = (12 << 3) | 2;
const NAME = (1 << 3) | 2;
const TYPE = (2 << 3) | 2;
const FLOAT_TENSOR = [(1 << 3) | 2, 2, (1 << 3) | 0, 1];

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}

function readVarint(bytes: Uint8Array, start: number): readonly [value: number, end: number] {
  let value = 0;
  for (let at = start, unit = 1; at < bytes.length; at++, unit *= 128) {
    const byte = bytes[at] ?? 0;
    value += (byte & 127) * unit;
    if (byte < 128) return [value, at + 1];
  }
  return [value, bytes.length];
}

/** Returns a copy of an ONNX model with an internal value added as an output. */
export function addOutput(model: Uint8Array, name: string): Uint8Array {
  const nameBytes = new TextEncoder().encode(name);
  const info = [NAME, ...varint(nameBytes.length), ...nameBytes, TYPE, FLOAT_TENSOR.length, ...FLOAT_TENSOR];
  const output = [GRAPH_OUTPUT, ...varint(info.length), ...info];
  for (let at = 0; at < model.length;) {
    const [tag, valueAt] = readVarint(model, at);
    const [value, contentAt] = readVarint(model, valueAt);
    const end = (tag & 7) === 2 ? contentAt + value : contentAt;
    if (tag === GRAPH) {
      const head = [...model.subarray(0, valueAt), ...varint(value + output.length)];
      return Buffer.concat([
        Uint8Array.from(head),
        model.subarray(contentAt, end),
        Uint8Array.from(output),
        model.subarray(end),
      ]);
    }
    at = end;
  }
  throw new Error("the voice's file is not an ONNX model: fetch it again");
}
