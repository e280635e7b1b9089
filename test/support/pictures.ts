const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, "base64"));

/** A PNG of 1 × 1 pixels. The pictures below are as small. */
export const PNG = bytes(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
);
export const GIF = bytes("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7");
export const WEBP = bytes("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA");
/** The start of a JPEG, up to its size of 1 × 1. */
export const JPEG = bytes("/9j/4AAQSkZJRgABAQEASABIAAD/wAALCAABAAEBAREA/9k=");
export const PDF = new Uint8Array(
  Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"),
);

/** A PNG whose header declares this many pixels. */
export function pngOf(width: number, height: number): Uint8Array {
  const png = PNG.slice();
  const view = new DataView(png.buffer);
  view.setUint32(16, width);
  view.setUint32(20, height);
  return png;
}

/** `PNG`, padded to this many bytes. */
export function pngOfBytes(length: number): Uint8Array {
  const png = new Uint8Array(length);
  png.set(PNG);
  return png;
}
