type Thumbnails = readonly (string | undefined)[];

/** The thumbnails of each message's attachments, in order, for the latest messages sent from this page. */
const thumbnails = new Map<string, Thumbnails>();
const MAX_MESSAGES = 100;

export function keepThumbnails(messageId: string, ofFiles: Thumbnails): void {
  thumbnails.set(messageId, ofFiles);
  for (const oldest of [...thumbnails.keys()].slice(0, -MAX_MESSAGES)) thumbnails.delete(oldest);
}

/** Returns the `data:` URL of an attachment's thumbnail, or `undefined` if this page does not have one. */
export function thumbnailOf(messageId: string, index: number): string | undefined {
  return thumbnails.get(messageId)?.[index];
}
