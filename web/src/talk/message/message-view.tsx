import {
  type Part,
  type SpokenTurn,
  type TalkMessage,
  textOf,
  ToolCallView,
  useMessage,
  useToolCalls,
} from "@parley/react";
import { memo, type ReactNode, useRef, useState } from "react";
import { Markdown } from "../../markdown/markdown.tsx";
import { ExactText } from "../../shared/exact-text.tsx";
import { parentCallId } from "../../tools/asked-forms.tsx";
import { CallCard } from "../../tools/call-card.tsx";
import { useIsMicrophoneOn } from "../../voice/microphone-state.ts";
import { useSound } from "../../voice/sound-switch.ts";
import { Attachment } from "./attachment.tsx";
import { EditMessage } from "./edit-message.tsx";
import { STATE_LABELS } from "./state-labels.ts";
import { mergeParts } from "./merge-parts.ts";
import { MessageActions } from "./message-actions.tsx";
import { thumbnailOf } from "./sent-pictures.ts";
import { StoredPart } from "./stored-part.tsx";
import { MessageTime } from "./message-time.tsx";

interface MessageViewProps {
  readonly id: string;
  /** The recorded part of an answer that started before the page was opened. */
  readonly earlier?: SpokenTurn;
  readonly edit: (id: string, text: string) => Promise<void>;
  readonly regenerate: (id: string) => Promise<void>;
}

/** Shows one message. Re-renders only when this message changes, not when others arrive. */
export const MessageView = memo(function MessageView({ id, earlier, edit, regenerate }: MessageViewProps): ReactNode {
  const message = useMessage(id);
  const [isEditing, setEditing] = useState(false);
  const item = useRef<HTMLLIElement>(null);
  const isReader = useIsReader(message);
  if (!message) return null;
  const { role, from, parts, problem, replyTo = earlier?.messageId } = message;
  const state = stateOf(message, earlier);
  const isComplete = state !== "open" && state !== "sending";
  return (
    <li ref={item} className={`message ${role}`} data-state={state} aria-busy={state === "open"}>
      <div className="head">
        <p className="who">{role === "user" ? from === undefined ? "You" : <ExactText>{from}</ExactText> : "Agent"}</p>
        {earlier ? <MessageTime at={earlier.at} by="worker" /> : <MessageTime at={message.at} by="device" />}
        <MessageActions
          onEdit={isComplete && role === "user" && from === undefined ? () => setEditing(true) : undefined}
          onRegenerate={
            isComplete && role === "assistant" && replyTo !== undefined
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
            // Returns the focus to the button that started the edit.
            item.current?.querySelector("button")?.focus();
            if (text !== undefined) inBackground(edit(id, text));
          }}
        />
      ) : (
        <div className="body">
          {message.attachments?.map((name, index) => (
            <Attachment key={index} name={name} thumbnail={thumbnailOf(id, index)} />
          ))}
          {(earlier ? mergeParts(earlier.answer, parts) : parts).map((part, index) =>
            "kind" in part ? (
              <PartView
                key={part.kind === "call" ? part.toolUseId : index}
                part={part}
                message={message}
                isReader={isReader}
              />
            ) : (
              <StoredPart key={index} part={part} turnId={id} />
            ),
          )}
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
      {STATE_LABELS[state] !== undefined && (
        <p className="note">
          {STATE_LABELS[state]}
          {problem !== undefined && `: ${problem}`}
          {isReader && parts.some((part) => restOf(part, message) !== "") && ". The dimmed part was not read aloud."}
        </p>
      )}
    </li>
  );
});

/**
 * Returns the message's state. If an answer ended before the page was opened and only one of its calls continued, the
 * message looks open, so the state is taken from the record.
 */
function stateOf({ state }: TalkMessage, earlier: SpokenTurn | undefined): TalkMessage["state"] {
  return state === "open" && earlier && earlier.state !== "running" ? earlier.state : state;
}

/** Ignores a failure, because the message itself shows the failure. */
function inBackground(varying: Promise<void>): void {
  varying.catch(() => {});
}

/**
 * Returns whether the person read an interrupted answer here instead of hearing it: the microphone was off when the
 * answer ended.
 */
function useIsReader(message: TalkMessage | undefined): boolean {
  const isOn = useIsMicrophoneOn();
  const [isReader, setReader] = useState<boolean>();
  const isCutOff = message?.state === "interrupted" || message?.state === "cancelled";
  if (isCutOff && isReader === undefined) setReader(!isOn);
  return isReader === true;
}

/** Returns the rest of a text: the part that was not played yet, or never will be. */
function restOf(part: Part, { isSpoken }: TalkMessage): string {
  if (part.kind !== "text" || isSpoken !== true || part.saidTo >= part.text.trimEnd().length) return "";
  return part.text.slice(part.saidTo);
}

function CallPart({ toolUseId }: { readonly toolUseId: string }): ReactNode {
  const asking = parentCallId(toolUseId);
  if (asking !== undefined) return <FormPart toolUseId={toolUseId} asking={asking} />;
  return <ToolCallView toolUseId={toolUseId} fallback={CallCard} />;
}

interface FormPartProps {
  readonly toolUseId: string;
  readonly asking: string;
}

/** Shows a form that a tool has requested, unless the tool's own card already contains the form. */
function FormPart({ toolUseId, asking }: FormPartProps): ReactNode {
  const isFolded = useToolCalls().some(({ id }) => id === asking);
  return !isFolded && <ToolCallView toolUseId={toolUseId} fallback={CallCard} />;
}

interface PartViewProps {
  readonly part: Part;
  readonly message: TalkMessage;
  readonly isReader: boolean;
}

function PartView({ part, message, isReader }: PartViewProps): ReactNode {
  const hasSound = useSound();
  if (part.kind === "call") return <CallPart toolUseId={part.toolUseId} />;
  if (part.kind === "aside") return <Markdown className="aside" text={part.text} />;
  if (part.text.trim() === "") return null;
  if (part.kind === "thinking")
    return (
      <details className="thinking">
        <summary>Thinking</summary>
        <p dir="auto">{part.text}</p>
      </details>
    );
  // A person's text is shown as typed.
  if (message.role === "user")
    return (
      <p className="text" dir="auto">
        {part.text}
      </p>
    );
  const { state } = message;
  const isCutOff = state === "interrupted" || state === "cancelled";
  // Text is shown as it is written. Words that were not played yet, or never will be, are dimmed.
  if (restOf(part, message) === "" || (!isCutOff && (state !== "open" || !hasSound)))
    return <Markdown text={part.text} />;
  const rest = isReader ? "unread" : "unheard";
  return <Markdown text={part.text} said={{ saidTo: part.saidTo, rest: isCutOff ? rest : "ahead" }} />;
}
