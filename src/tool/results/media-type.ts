import { imageSize } from "image-size";

/** The API's own limit, on either side of a picture. */
const MAX_SIDE = 8_000;
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};
/** A PDF may have something before its first line. */
const PDF_WITHIN = 1_024;

/** What bytes are, whatever they are said to be. `fault`: why the model cannot be shown them. */
export type MediaType =
  | { readonly kind: "image" | "document"; readonly mediaType: string }
  | { readonly fault: string };

export function mediaTypeOf(bytes: Uint8Array): MediaType {
  if (isPdf(bytes)) return { kind: "document", mediaType: "application/pdf" };
  const { type = "", width = 0, height = 0 } = sizeOf(bytes) ?? {};
  const mediaType = IMAGE_TYPES[type];
  if (mediaType === undefined) return { fault: "the bytes are no PNG, JPEG, GIF, WebP or PDF" };
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE)
    return { fault: `the picture has ${width} × ${height} pixels, and may have ${MAX_SIDE} × ${MAX_SIDE}` };
  return { kind: "image", mediaType };
}

function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PDF_WITHIN)).includes("%PDF-");
}

function sizeOf(bytes: Uint8Array) {
  try {
    return imageSize(bytes);
  } catch {
    return undefined;
  }
}
