import { type Part, type TalkMessage, textOf, ToolCallView, useMessage } from "@parley/react";
import { memo, type ReactNode, useRef, useState } from "react";
import { CallCard } from "../tools/call-card.tsx";
import { EditMessage } from "./edit-message.tsx";
import { MessageActions } from "./message-actions.tsx";

const ENDS: Readonly<Record<string, string>> = {
  interrupted: "Interrupted",
  cancelled: "Stopped",
  failed: "Failed",
  sending: "Sending …",
};

interface MessageViewProps {
  readonly id: string;
  readonly edit: (id: string, text: string) => Promise<void>;
  readonly regenerate: (id: string) => Promise<void>;
}

/** One message. It renders again only when it grows itself, not when others come. */
export const MessageView = memo(function MessageView({ id, edit, regenerate }: MessageViewProps): ReactNode {
  const message = useMessage(id);
  const [isEditing, setEditing] = useState(false);
  const item = useRef<HTMLLIElement>(null);
  if (!message) return null;
  const { role, from, parts, state, problem, replyTo } = message;
  const isOver = state !== "open" && state !== "sending";
  return (
    <li ref={item} className={`message ${role}`} data-state={state} aria-busy={state === "open"}>
      <div className="head">
        <p className="who">{role === "user" ? (from ?? "You") : "Agent"}</p>
        <MessageActions
          onEdit={isOver && role === "user" && from === undefined ? () => setEditing(true) : undefined}
          onAgain={
            isOver && role === "assistant" && replyTo !== undefined
              ? () => inBackground(regenerate(replyTo))
              : undefined
          }
        />
      </div>
      {isEditing ? (
        <EditMessage
          text={textOf(message)}
          onDone={(text) => {
            setEditing(false);
            // Gives the focus back to the button that began the edit.
            item.current?.querySelector("button")?.focus();
            if (text !== undefined) inBackground(edit(id, text));
          }}
        />
      ) : (
        <div className="body">
          {message.attachments?.map((name, index) => (
            <p key={index} className="attachment">
              <span className="visually-hidden">Attached: </span>
              {name}
            </p>
          ))}
          {parts.map((part, index) => (
            <PartView key={part.kind === "call" ? part.toolUseId : index} part={part} message={message} />
          ))}
          {role === "assistant" && state === "open" && parts.length === 0 && (
            <p className="typing">
              <span className="visually-hidden">Thinking</span>
              <i aria-hidden="true" />
              <i aria-hidden="true" />
              <i aria-hidden="true" />
            </p>
          )}
        </div>
      )}
      {ENDS[state] !== undefined && (
        <p className="note">
          {ENDS[state]}
          {problem !== undefined && `: ${problem}`}
        </p>
      )}
    </li>
  );
});

/** Ignores a failure, because the message itself shows it. */
function inBackground(varying: Promise<void>): void {
  varying.catch(() => {});
}

function PartView({ part, message }: { readonly part: Part; readonly message: TalkMessage }): ReactNode {
  if (part.kind === "call") return <ToolCallView toolUseId={part.toolUseId} fallback={CallCard} />;
  if (part.kind === "aside") return <p className="aside">{part.text}</p>;
  if (part.text.trim() === "") return null;
  if (part.kind === "thinking")
    return (
      <details className="thinking">
        <summary>Thinking</summary>
        <p>{part.text}</p>
      </details>
    );
  if (message.isSpoken !== true || part.saidTo >= part.text.trimEnd().length)
    return <p className="text">{part.text}</p>;
  const rest = part.text.slice(part.saidTo);
  const isOver = message.state !== "open";
  // Words are shown as they are written. Those that are not heard yet, or never were, are dimmed.
  return (
    <p className="text">
      {part.text.slice(0, part.saidTo)}
      {message.state === "interrupted" || message.state === "cancelled" ? (
        <s className="unheard">
          <span className="visually-hidden">Not heard: </span>
          {rest}
        </s>
      ) : (
        <span className={isOver ? "" : "ahead"}>{rest}</span>
      )}
    </p>
  );
}
