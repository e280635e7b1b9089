import { type SpokenTurn, type TalkEntry, useMessage, useParley } from "@parley/react";
import { memo, type ReactNode, useEffect, useRef, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { ExactText } from "../shared/exact-text.tsx";
import { loadTurns } from "../shared/read-record.ts";
import { useRecord } from "../shared/use-record.tsx";
import { CallCard } from "../tools/call-card.tsx";
import { toToolCall } from "../tools/stored-call.ts";
import { EditMessage } from "./edit-message.tsx";
import { MessageActions } from "./message-actions.tsx";
import { partsBefore } from "./parts-before.ts";

interface Variations {
  readonly edit: (messageId: string, text: string) => Promise<void>;
  readonly regenerate: (messageId: string) => Promise<void>;
}

interface EarlierTurnsProps extends Variations {
  /** Answers that this page shows itself. */
  readonly shown: readonly TalkEntry[];
  /** Shown when nothing has been said. */
  readonly otherwise: ReactNode;
}

/** What was said in this room before the page was opened, from the worker's record. */
export function EarlierTurns({ shown, otherwise, edit, regenerate }: EarlierTurnsProps): ReactNode {
  const { token } = useJoinedTalk();
  const { value = [], problem } = useRecord(token, loadTurns);
  const [replaced, setReplaced] = useState<readonly string[]>([]);
  const parley = useParley();
  useEffect(
    () =>
      parley?.on("answer_start", ({ replacesId }) => {
        if (replacesId !== undefined) setReplaced((known) => [...known, replacesId]);
      }),
    [parley],
  );
  const loaded = value.filter(({ isReplaced }) => isReplaced !== true);
  // The turns after a regenerated answer are replaced, too. The new answer is to its question.
  const place = loaded.findIndex(({ turnId }) => replaced.includes(turnId));
  const turns = place < 0 ? loaded : loaded.slice(0, place + 1);
  if (turns.length === 0) return problem || (shown.length === 0 && otherwise);
  const askedHere = new Set(shown.filter((_, index) => shown[index - 1]?.role === "user").map(({ id }) => id));
  return (
    <section aria-label="Earlier in this room">
      <ol className="list">
        {turns.map((turn) => (
          <EarlierTurn
            key={turn.turnId}
            turn={turn}
            isAskedHere={askedHere.has(turn.turnId)}
            isAnsweredAnew={replaced.includes(turn.turnId)}
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
  /** Whether this page shows the question itself. */
  readonly isAskedHere: boolean;
  /** The page shows another answer. */
  readonly isAnsweredAnew: boolean;
}

const EarlierTurn = memo(function EarlierTurn({ turn, edit, regenerate, ...shown }: EarlierTurnProps): ReactNode {
  const { turnId, messageId, said, state, heard } = turn;
  const { isAskedHere, isAnsweredAnew } = shown;
  const [problem, setProblem] = useState<string>();
  /** The part of the answer that this page has received, which is shown with the new messages. */
  const seen = useMessage(turnId);
  const answer = isAskedHere || isAnsweredAnew ? [] : partsBefore(turn.answer, seen?.parts ?? []);
  const tell = (varying: Promise<void>) => {
    setProblem(undefined);
    varying.catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
  };
  const isOver = state !== "running" && messageId !== undefined;
  return (
    <>
      {said !== undefined && !isAskedHere && (
        <EarlierQuestion
          turn={turn}
          said={said}
          problem={problem}
          onEdit={isOver ? (text) => tell(edit(messageId, text)) : undefined}
        />
      )}
      {answer.length > 0 && (
        <li className="message assistant">
          <div className="head">
            <p className="who">Agent</p>
            <MessageActions onAgain={isOver && !seen ? () => tell(regenerate(messageId)) : undefined} />
          </div>
          <div className="body">
            {answer.map((part, index) =>
              part.type === "text" ? (
                <Markdown key={index} text={part.text ?? ""} />
              ) : (
                <CallCard key={index} call={toToolCall(part, turnId)} />
              ),
            )}
          </div>
          {!seen && heard !== undefined && (
            <p className="note">{heard === "" ? "Nothing of it was heard" : `Heard: “${heard}”`}</p>
          )}
          {!seen && state !== "completed" && <p className="note">{state}</p>}
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
  const { participant, saidBy = participant } = turn;
  const { identity } = useJoinedTalk();
  const [words, setWords] = useState(said);
  const [isEditing, setEditing] = useState(false);
  const item = useRef<HTMLLIElement>(null);
  const isOwn = saidBy === identity;
  const done = (text?: string) => {
    setEditing(false);
    // To where it was before: the button that began it.
    item.current?.querySelector("button")?.focus();
    if (text === undefined) return;
    setWords(text);
    onEdit?.(text);
  };
  return (
    <li ref={item} className="message user">
      <div className="head">
        <p className="who">{isOwn ? "You" : <ExactText>{saidBy}</ExactText>}</p>
        <MessageActions onEdit={isOwn && onEdit ? () => setEditing(true) : undefined} />
      </div>
      {isEditing ? (
        <EditMessage text={words} onDone={done} />
      ) : (
        <div className="body">
          <p className="text" dir="auto">
            {words}
          </p>
        </div>
      )}
      {problem !== undefined && <p className="note">Failed: {problem}</p>}
    </li>
  );
}
