import { type Part, ToolCallView, type TranscriptPart, useToolCalls } from "@parley/react";
import { Fragment, type ReactNode } from "react";
import { parentCallId } from "../../tools/asked-forms.tsx";
import { CallCard } from "../../tools/call-card.tsx";
import { CallFold } from "../../tools/call-fold.tsx";
import { toToolCall } from "../../tools/stored-call.ts";
import { groupParts, type TextPart } from "./group-parts.ts";

interface AnswerPartsProps {
  readonly parts: readonly (Part | TranscriptPart)[];
  readonly messageId: string;
  readonly toText: (part: TextPart) => ReactNode;
}

/** The texts and calls of an answer, in order. */
export function AnswerParts({ parts, messageId, toText }: AnswerPartsProps): ReactNode {
  return groupParts(parts).map((shown) =>
    "text" in shown ? (
      <Fragment key={shown.key}>{toText(shown.text)}</Fragment>
    ) : (
      <CallFold key={shown.key} parts={shown.calls} messageId={messageId}>
        {shown.calls.map((part, index) =>
          "kind" in part ? (
            <LiveCall key={part.toolUseId} toolUseId={part.toolUseId} />
          ) : (
            <CallCard key={part.toolUseId ?? index} call={toToolCall(part, messageId)} />
          ),
        )}
      </CallFold>
    ),
  );
}

function LiveCall({ toolUseId }: { readonly toolUseId: string }): ReactNode {
  const asking = parentCallId(toolUseId);
  if (asking !== undefined) return <FormCall toolUseId={toolUseId} asking={asking} />;
  return <ToolCallView toolUseId={toolUseId} fallback={CallCard} />;
}

interface FormCallProps {
  readonly toolUseId: string;
  readonly asking: string;
}

/** Shows a form that a tool has requested, unless the tool's own card already contains the form. */
function FormCall({ toolUseId, asking }: FormCallProps): ReactNode {
  const isFolded = useToolCalls().some(({ id }) => id === asking);
  return !isFolded && <ToolCallView toolUseId={toolUseId} fallback={CallCard} />;
}
