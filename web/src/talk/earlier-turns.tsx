import { type SpokenTurn, useMessage } from "@parley/react";
import { memo, type ReactNode, useRef, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { AnswerParts } from "./message/answer-parts.tsx";
import { Attachment } from "./message/attachment.tsx";
import { Author } from "./message/author.tsx";
import { EditMessage } from "./message/edit-message.tsx";
import { labelOf } from "./message/label-of.ts";
import { writtenText } from "./message/group-parts.ts";
import { MessageActions } from "./message/message-actions.tsx";
import { MessageView } from "./message/message-view.tsx";
import type { useEarlierTurns } from "./use-earlier-turns.ts";
import { MessageTime } from "./message/message-time.tsx";
import { useWords } from "../shared/words/words.ts";

interface Variations {
  readonly edit: (messageId: string, text: string) => Promise<void>;
  readonly regenerate: (messageId: string) => Promise<void>;
}

interface EarlierTurnsProps extends Variations {
  readonly earlier: ReturnType<typeof useEarlierTurns>;
}

/** Shows the part of this room's conversation from before the page was opened. */
export function EarlierTurns({ earlier, edit, regenerate }: EarlierTurnsProps): ReactNode {
  const words = useWords();
  const { turns, askedHere, answeredAgain } = earlier;
  return (
    <section aria-label={words.talk.earlier}>
      <ol className="list">
        {turns.map((turn) => (
          <EarlierTurn
            key={turn.turnId}
            turn={turn}
            isAskedHere={askedHere.has(turn.turnId)}
            isAnsweredAgain={answeredAgain.has(turn.turnId)}
            edit={edit}
            regenerate={regenerate}
          />
        ))}
      </ol>
    </section>
  );
}

interface EarlierTurnProps extends Variations {
  readonly turn: SpokenTurn;
  /** Whether the page's own messages show the question. */
  readonly isAskedHere: boolean;
  /** Whether the page shows a newer answer. */
  readonly isAnsweredAgain: boolean;
}

const EarlierTurn = memo(function EarlierTurn({ turn, edit, regenerate, ...shown }: EarlierTurnProps): ReactNode {
  const { message: words, colon, quote } = useWords();
  const { turnId, messageId, said, state, at, heard, answer } = turn;
  const label = labelOf(state, words);
  const { isAskedHere, isAnsweredAgain } = shown;
  const [problem, setProblem] = useState<string>();
  /**
   * The part of the answer that this page has received. Set if the answer or one of its calls was still running when
   * the page was opened.
   */
  const seen = useMessage(turnId);
  const tell = (varying: Promise<void>) => {
    setProblem(undefined);
    varying.catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
  };
  const isRunning = state === "running" && (!seen || seen.state === "open");
  const isComplete = !isRunning && messageId !== undefined;
  const isAnswered = !isAskedHere && !isAnsweredAgain;
  return (
    <>
      {said !== undefined && !isAskedHere && (
        <EarlierQuestion
          turn={turn}
          said={said}
          problem={problem}
          onEdit={isComplete ? (text) => tell(edit(messageId, text)) : undefined}
        />
      )}
      {isAnswered && seen && <MessageView id={turnId} earlier={turn} edit={edit} regenerate={regenerate} />}
      {isAnswered && !seen && (answer.length > 0 || label !== undefined) && (
        <li className="message assistant" data-state={label && state}>
          <div className="head">
            <Author name={words.agent} />
            <MessageTime at={at} by="worker" />
            <MessageActions
              text={writtenText(answer)}
              onRegenerate={isComplete ? () => tell(regenerate(messageId)) : undefined}
            />
          </div>
          <div className="body">
            <AnswerParts parts={answer} messageId={turnId} toText={({ text }) => <Markdown text={text} />} />
          </div>
          {heard === "" && <p className="note">{words.noneHeard}</p>}
          {heard !== undefined && heard !== "" && (
            <p className="note">
              {words.heard}
              {colon}
              <bdi>{quote(heard)}</bdi>
            </p>
          )}
          {label !== undefined && <p className="note">{label}</p>}
        </li>
      )}
    </>
  );
});

interface EarlierQuestionProps {
  readonly turn: SpokenTurn;
  readonly said: string;
  readonly problem: string | undefined;
  readonly onEdit: ((text: string) => void) | undefined;
}

function EarlierQuestion({ turn, said, problem, onEdit }: EarlierQuestionProps): ReactNode {
  const { message: words, colon } = useWords();
  const { participant, saidBy = participant } = turn;
  const { identity } = useJoinedTalk();
  const [text, setText] = useState(said);
  const [isEditing, setEditing] = useState(false);
  const item = useRef<HTMLLIElement>(null);
  const isOwn = saidBy === identity;
  const done = (changed?: string) => {
    setEditing(false);
    // Returns the focus to the button that started the edit.
    item.current?.querySelector("button")?.focus();
    if (changed === undefined) return;
    setText(changed);
    onEdit?.(changed);
  };
  return (
    <li ref={item} className="message user" data-other={!isOwn}>
      <div className="head">
        <Author name={isOwn ? undefined : saidBy} />
        <MessageTime at={turn.at} by="worker" />
        <MessageActions text={text} onEdit={isOwn && onEdit ? () => setEditing(true) : undefined} />
      </div>
      {isEditing ? (
        <EditMessage text={text} onDone={done} />
      ) : (
        <div className="body">
          {turn.attachments?.map((name, index) => (
            <Attachment key={index} name={name} />
          ))}
          {text !== "" && (
            <p className="text" dir="auto">
              {text}
            </p>
          )}
        </div>
      )}
      {problem !== undefined && (
        <p className="note">
          {words.states.failed}
          {colon}
          {problem}
        </p>
      )}
    </li>
  );
}
