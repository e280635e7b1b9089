import { getWords } from "../shared/words/words.ts";
/** A file to send with the next message. */
export interface AttachedFile {
  readonly file: File;
  /** A thumbnail as a `data:` URL. Absent if the file is not a picture. */
  readonly thumbnail?: string;
}

/** Media types that a model accepts. Other text files are sent as plain text. */
export const KINDS: readonly string[] = [
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf",
  "text/plain",
];
/** How long the longer edge of a picture may be, in pixels. Models scale larger pictures down to this size. */
const LONGEST_EDGE = 1_568;
const THUMBNAIL_EDGE = 96;
const JPEG_QUALITY = 0.85;
/**
 * The size of a PNG, in bytes, above which it is saved as JPEG. Such a large PNG is a photo, which JPEG makes much
 * smaller.
 */
const LARGE_PNG = 1_000_000;
/**
 * The maximum total size of a message's files, in bytes. The envelope, of at most 4 MiB, must also hold the text and
 * the files' names.
 */
export const MAX_TOTAL_BYTES = 4_000_000;

/**
 * Prepares a file for sending. Scales pictures down to the size that models see, except animations.
 *
 * @throws {TypeError} with a sentence for people, if models do not accept files of this type
 */
export async function attachFile(file: File): Promise<AttachedFile> {
  if (!KINDS.includes(file.type) && !file.type.startsWith("text/"))
    throw new TypeError(getWords().talk.notAttachable(file.name));
  if (!file.type.startsWith("image/")) return { file };
  const picture = await createImageBitmap(file).catch((cause: unknown) => {
    throw new TypeError(getWords().talk.notAPicture(file.name), { cause });
  });
  try {
    const thumbnail = draw(picture, THUMBNAIL_EDGE).toDataURL("image/png");
    const isSmall = Math.max(picture.width, picture.height) <= LONGEST_EDGE && file.size <= LARGE_PNG;
    if (isSmall || file.type === "image/gif") return { file, thumbnail };
    const scaled = await toFile(draw(picture, LONGEST_EDGE), file);
    return { file: scaled.size < file.size ? scaled : file, thumbnail };
  } finally {
    picture.close();
  }
}

/** Draws the picture with at most this edge length. Never enlarges it. */
function draw(picture: ImageBitmap, longestEdge: number): HTMLCanvasElement {
  const scale = Math.min(1, longestEdge / Math.max(picture.width, picture.height));
  const [width, height] = [picture.width, picture.height].map((edge) => Math.max(1, Math.round(edge * scale)));
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return canvas;
}

async function toFile(canvas: HTMLCanvasElement, { name, type }: File): Promise<File> {
  const blob = await toBlob(canvas, type);
  if (type !== "image/png" || blob.size <= LARGE_PNG) return new File([blob], name, { type: blob.type });
  const photo = await toBlob(canvas, "image/jpeg");
  return new File([photo], name.replace(/\.png$/iu, ".jpg"), { type: photo.type });
}

async function toBlob(canvas: HTMLCanvasElement, type: string): Promise<Blob> {
  const { promise, resolve, reject } = Promise.withResolvers<Blob>();
  const done = (blob: Blob | null) => (blob ? resolve(blob) : reject(new TypeError(getWords().talk.notScalable)));
  canvas.toBlob(done, type, JPEG_QUALITY);
  return promise;
}
