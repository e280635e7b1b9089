import { refuseUnknownFields } from "../lib/checks/did-you-mean.ts";
import type { MessageBody } from "../protocol/messages/messages.ts";

/**
 * A file sent with a message: a picture (PNG, JPEG, GIF, WebP), a PDF, or plain text. A `File` is sent under its own
 * name.
 */
export type Attachment =
  | Blob
  | { readonly data: Uint8Array; readonly name?: string; readonly mediaType?: string }
  | { readonly text: string; readonly name?: string };

type Sent = NonNullable<MessageBody<"user_message">["attachments"]>;

/** Converts attachments to the form that a message carries. The result contains bytes, so it is not valid JSON. */
export async function readAttachments(attachments: readonly Attachment[]): Promise<Sent> {
  return (await Promise.all(attachments.map(readAttachment))) as unknown as Sent;
}

async function readAttachment(attachment: Attachment): Promise<object> {
  if (!(attachment instanceof Blob)) {
    refuseUnknownFields(attachment, ["data", "text", "name", "mediaType"], "an attachment");
    return attachment;
  }
  const { type, name } = attachment as Blob & { readonly name?: string };
  const named = { ...(name !== undefined && { name }), ...(type !== "" && { mediaType: type }) };
  if (type.startsWith("text/")) return { ...named, text: await attachment.text() };
  return { ...named, data: new Uint8Array(await attachment.arrayBuffer()) };
}
