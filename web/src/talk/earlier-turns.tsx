import { type TalkEntry, useMessage, useParley } from "@parley/react";
import { memo, type ReactNode, useEffect, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { loadTurns, type StoredTurn } from "../shared/read-record.ts";
import { useRecord } from "../shared/use-record.tsx";
import { CallCard } from "../tools/call-card.tsx";
import { toToolCall } from "../tools/stored-call.ts";
import { partsBefore } from "./parts-before.ts";

interface EarlierTurnsProps {
  /** Answers that this page shows itself. */
  readonly shown: readonly TalkEntry[];
  /** Shown when nothing has been said. */
  readonly otherwise: ReactNode;
}

/** What was said in this room before the page was opened, from the worker's record. */
export function EarlierTurns({ shown, otherwise }: EarlierTurnsProps): ReactNode {
  const { token, identity } = useJoinedTalk();
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
            me={identity}
            isAskedHere={askedHere.has(turn.turnId)}
            isAnsweredAnew={replaced.includes(turn.turnId)}
          />
        ))}
      </ol>
    </section>
  );
}

interface EarlierTurnProps {
  readonly turn: StoredTurn;
  readonly me: string;
  /** Whether this page shows the question itself. */
  readonly isAskedHere: boolean;
  /** The page shows another answer. */
  readonly isAnsweredAnew: boolean;
}

const EarlierTurn = memo(function EarlierTurn({ turn, me, ...shown }: EarlierTurnProps): ReactNode {
  const { turnId, participant, said, saidBy = participant, state, heard } = turn;
  /** The part of the answer that this page has received, which is shown with the new messages. */
  const seen = useMessage(turnId);
  const { isAskedHere, isAnsweredAnew } = shown;
  const answer = isAskedHere || isAnsweredAnew ? [] : partsBefore(turn.answer, seen?.parts ?? []);
  return (
    <>
      {said !== undefined && !isAskedHere && (
        <li className="message user">
          <p className="who">{saidBy === me ? "You" : saidBy}</p>
          <div className="body">
            <p className="text">{said}</p>
          </div>
        </li>
      )}
      {answer.length > 0 && (
        <li className="message assistant">
          <p className="who">Agent</p>
          <div className="body">
            {answer.map((part, index) =>
              part.type === "text" ? (
                <p className="text" key={index}>
                  {part.text}
                </p>
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
