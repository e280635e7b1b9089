import { type Part, type SpokenTurn, type TalkMessage, textOf, useMessage } from "@parley/react";
import { memo, type ReactNode, useRef, useState } from "react";
import { Markdown } from "../../markdown/markdown.tsx";
import { useCaption } from "../../voice/captions.ts";
import { heardTo } from "../../voice/heard-to.ts";
import { useIsMicrophoneOn } from "../../voice/microphone-state.ts";
import { useSound } from "../../voice/sound-switch.ts";
import { AnswerParts } from "./answer-parts.tsx";
import { Attachment } from "./attachment.tsx";
import { Author } from "./author.tsx";
import { EditMessage } from "./edit-message.tsx";
import { writtenText } from "./group-parts.ts";
import { labelOf } from "./label-of.ts";
import { mergeParts } from "./merge-parts.ts";
import { MessageActions } from "./message-actions.tsx";
import { thumbnailOf } from "./sent-pictures.ts";
import { MessageTime } from "./message-time.tsx";
import { useWords } from "../../shared/words/words.ts";

interface MessageViewProps {
  readonly id: string;
  /** The recorded part of an answer that started before the page was opened. */
  readonly earlier?: SpokenTurn;
  readonly edit: (id: string, text: string) => Promise<void>;
  readonly regenerate: (id: string) => Promise<void>;
}

/** Shows one message. Re-renders only when this message changes, not when others arrive. */
export const MessageView = memo(function MessageView({ id, earlier, edit, regenerate }: MessageViewProps): ReactNode {
  const { message: words, colon } = useWords();
  const message = useMessage(id);
  const [isEditing, setEditing] = useState(false);
  const item = useRef<HTMLLIElement>(null);
  const isReader = useIsReader(message);
  if (!message) return null;
  const { role, from, parts, problem, replyTo = earlier?.messageId } = message;
  const shown = earlier ? mergeParts(earlier.answer, parts) : parts;
  const state = stateOf(message, earlier);
  const label = labelOf(state, words);
  const isComplete = state !== "open" && state !== "sending";
  return (
    <li
      ref={item}
      className={`message ${role}`}
      data-state={state}
      data-other={from !== undefined}
      aria-busy={state === "open"}
    >
      <div className="head">
        <Author name={role === "assistant" ? words.agent : from} />
        {earlier ? <MessageTime at={earlier.at} by="worker" /> : <MessageTime at={message.at} by="device" />}
        <MessageActions
          text={isComplete ? writtenText(shown) : ""}
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
          <AnswerParts
            parts={shown}
            messageId={id}
            toText={(part) =>
              "kind" in part ? (
                <PartView part={part} message={message} isReader={isReader} />
              ) : (
                <Markdown text={part.text} />
              )
            }
          />
          {role === "assistant" && state === "open" && parts.length === 0 && (
            <p className="typing">
              <span className="visually-hidden">{words.thinking}</span>
              <i aria-hidden="true" />
              <i aria-hidden="true" />
              <i aria-hidden="true" />
            </p>
          )}
        </div>
      )}
      {label !== undefined && (
        <p className="note">
          {label}
          {problem !== undefined && `${colon}${problem}`}
          {isReader && parts.some((part) => restOf(part, message) !== "") && words.dimmed}
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

interface PartViewProps {
  readonly part: Exclude<Part, { kind: "call" }>;
  readonly message: TalkMessage;
  readonly isReader: boolean;
}

function PartView({ part, message, isReader }: PartViewProps): ReactNode {
  const words = useWords();
  const hasSound = useSound();
  if (part.kind === "aside") return <Markdown className="aside" text={part.text} />;
  if (part.kind === "thinking")
    return (
      <details className="thinking">
        <summary>{words.message.thinking}</summary>
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
  const isSpeaking = state === "open" && hasSound && message.isSpoken === true;
  if (isCutOff ? restOf(part, message) === "" : !isSpeaking) return <Markdown text={part.text} />;
  if (!isCutOff && part === message.parts.findLast(isBeingSaid)) return <SpeakingPart part={part} />;
  if (!isCutOff) return <Markdown text={part.text} said={{ saidTo: part.saidTo, rest: "ahead" }} />;
  return <Markdown text={part.text} said={{ saidTo: part.saidTo, rest: isReader ? "unread" : "unheard" }} />;
}

/** Whether a sentence of this part has begun to play. The last such part is the one that is being heard. */
function isBeingSaid(part: Part): boolean {
  return part.kind === "aside" || (part.kind === "text" && part.sentenceAt !== undefined);
}

/** A text that is being spoken. Its words that have not been heard yet are dimmed. */
function SpeakingPart({ part }: { readonly part: Extract<Part, { saidTo: number }> }): ReactNode {
  const caption = useCaption();
  return <Markdown text={part.text} said={{ saidTo: heardTo(part.text, part, caption), rest: "ahead" }} />;
}
