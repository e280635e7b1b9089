/** Where a string with bytes that are not UTF-8 lies in a packet: its header, its content and its end. */
export interface BadString {
  readonly start: number;
  readonly contentStart: number;
  readonly end: number;
}

/** True for well-formed UTF-8 only: no overlong form, no surrogate, nothing above U+10FFFF, nothing cut. */
export function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  let position = start;
  while (position < end) {
    const lead = bytes[position] ?? 0;
    if (lead < 0x80) {
      position++;
      continue;
    }
    const width = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || position + width > end) return false;
    const second = bytes[position + 1] ?? 0;
    const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    if (second < low || second > high) return false;
    for (let next = position + 2; next < position + width; next++) {
      if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return false;
    }
    position += width;
  }
  return true;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

/** A copy of the packet in which every bad byte of these strings is U+FFFD. A container counts items, so only the strings' own headers change. */
export function repairStrings(bytes: Uint8Array, strings: readonly BadString[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let copied = 0;
  for (const { start, contentStart, end } of strings) {
    const content = encoder.encode(decoder.decode(bytes.subarray(contentStart, end)));
    const header = new Uint8Array(5);
    header[0] = 0xdb;
    new DataView(header.buffer).setUint32(1, content.length);
    parts.push(bytes.subarray(copied, start), header, content);
    copied = end;
  }
  parts.push(bytes.subarray(copied));
  return concatenate(parts);
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
