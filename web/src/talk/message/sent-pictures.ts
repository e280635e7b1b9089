type Thumbnails = readonly (string | undefined)[];

/** Of the newest messages that this page has sent: what their attachments look like, in their order. */
const thumbnails = new Map<string, Thumbnails>();
const MAX_MESSAGES = 100;

export function keepThumbnails(messageId: string, ofFiles: Thumbnails): void {
  thumbnails.set(messageId, ofFiles);
  for (const oldest of [...thumbnails.keys()].slice(0, -MAX_MESSAGES)) thumbnails.delete(oldest);
}

/** The `data:` address of an attachment's small picture; `undefined` when this page has none. */
export function thumbnailOf(messageId: string, index: number): string | undefined {
  return thumbnails.get(messageId)?.[index];
}
