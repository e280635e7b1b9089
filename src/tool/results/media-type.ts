import { GIF } from "image-size/types/gif";
import { JPG } from "image-size/types/jpg";
import { PNG } from "image-size/types/png";
import { WEBP } from "image-size/types/webp";

/** The API's limit for each side of a picture, in pixels. */
const MAX_SIDE = 8_000;
/**
 * The picture formats that are read. The other readers of `image-size` are not used, because the bytes are untrusted.
 */
const IMAGES = [
  ["image/png", PNG],
  ["image/jpeg", JPG],
  ["image/gif", GIF],
  ["image/webp", WEBP],
] as const;
/**
 * How many segments of a JPEG are searched for its size. A camera's JPEG has about a dozen before the segment with the
 * size.
 */
const MAX_SEGMENTS = 1_000;
/**
 * How many bytes at the start of a file are searched for the first line of a PDF. Other bytes may precede that line.
 */
const PDF_WITHIN = 1_024;

/** The actual type of the bytes, whatever type was declared. `fault` says why they cannot be shown to the model. */
export type MediaType =
  | { readonly kind: "image" | "document"; readonly mediaType: string }
  | { readonly fault: string };

export function mediaTypeOf(bytes: Uint8Array): MediaType {
  const [mediaType, image] = IMAGES.find(([, { validate }]) => tried(() => validate(bytes)) === true) ?? [];
  if (mediaType === undefined) {
    if (isPdf(bytes)) return toPdf(bytes);
    return { fault: "the bytes are not a PNG, JPEG, GIF, WebP or PDF file" };
  }
  const size = tried(() => (image === JPG ? sizeOfJpeg(bytes) : image.calculate(bytes)));
  if (!size) return { fault: `the bytes begin like ${mediaType}, but cannot be read` };
  const { width, height } = size;
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE)
    return { fault: `the picture has ${width} × ${height} pixels; expected 1 × 1 to ${MAX_SIDE} × ${MAX_SIDE}` };
  return { kind: "image", mediaType };
}

/**
 * Returns the size of a JPEG. The reader of `image-size` would take a step for each byte of a broken JPEG, and for each
 * of the 65,535 entries that an EXIF segment may claim to have: up to a second for 3 MB.
 */
function sizeOfJpeg(jpeg: Uint8Array): { readonly width: number; readonly height: number } | undefined {
  const view = new DataView(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength);
  for (let at = 2, left = MAX_SEGMENTS; left > 0 && at + 4 <= jpeg.length; left--) {
    const marker = jpeg[at + 1] ?? 0;
    if (jpeg[at] !== 0xff) return undefined;
    if (marker >= 0xc0 && marker <= 0xc2) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/**
 * Returns the type of a PDF, or a fault if it has no end marker. Searches for the marker anywhere, because other bytes
 * may follow it, and a PDF may have been extended.
 */
function toPdf(bytes: Uint8Array): MediaType {
  const isCutOff = !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes("%%EOF");
  if (isCutOff) return { fault: "the bytes begin like a PDF, but have no end marker" };
  return { kind: "document", mediaType: "application/pdf" };
}

export function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PDF_WITHIN)).includes("%PDF-");
}

/** Returns `undefined` if the reader throws, as it does for truncated bytes. */
function tried<Read>(read: () => Read): Read | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
