import type { ReactNode } from "react";
import { ExactText } from "../../shared/exact-text.tsx";
import { useWords } from "../../shared/words/words.ts";

interface AttachmentProps {
  /** The attachment's name or media type. */
  readonly name: string;
  /** The thumbnail's `data:` URL, if this page has one. */
  readonly thumbnail?: string | undefined;
}

export function Attachment({ name, thumbnail }: AttachmentProps): ReactNode {
  const words = useWords();
  return (
    <p className="attachment">
      {thumbnail !== undefined && <img className="thumbnail" src={thumbnail} alt="" />}
      <span className="visually-hidden">{words.talk.attached}</span>
      <ExactText>{name}</ExactText>
    </p>
  );
}
