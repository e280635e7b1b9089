import type { TranscriptPart } from "@parley/react";
import type { ReactNode } from "react";
import { Markdown } from "../../markdown/markdown.tsx";
import { CallCard } from "../../tools/call-card.tsx";
import { toToolCall } from "../../tools/stored-call.ts";

interface StoredPartProps {
  readonly part: TranscriptPart;
  readonly turnId: string;
}

/** A part of an answer from the record. */
export function StoredPart({ part, turnId }: StoredPartProps): ReactNode {
  return part.type === "text" ? <Markdown text={part.text} /> : <CallCard call={toToolCall(part, turnId)} />;
}
