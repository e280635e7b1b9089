import type { ReactNode } from "react";
import { ExactText } from "../../shared/exact-text.tsx";

interface AttachmentProps {
  /** Its name, or its media type. */
  readonly name: string;
  /** The `data:` address of its small picture, if this page has one. */
  readonly thumbnail?: string | undefined;
}

/** A file that came with a message. */
export function Attachment({ name, thumbnail }: AttachmentProps): ReactNode {
  return (
    <p className="attachment">
      {thumbnail !== undefined && <img className="thumbnail" src={thumbnail} alt="" />}
      <span className="visually-hidden">Attached: </span>
      <ExactText>{name}</ExactText>
    </p>
  );
}
