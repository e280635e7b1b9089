import { useTalk } from "@parley/react";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { EarlierTurns } from "./earlier-turns.tsx";
import { MessageView } from "./message/message-view.tsx";
import type { useEarlierTurns } from "./use-earlier-turns.ts";
import { useWords } from "../shared/words/words.ts";

/**
 * How close to its end the list must be, in pixels, to follow new messages. Otherwise, it stays at the reader's
 * position.
 */
const NEAR_PX = 80;

interface MessageListProps {
  readonly earlier: ReturnType<typeof useEarlierTurns>;
}

export function MessageList({ earlier }: MessageListProps): ReactNode {
  const { talk: words } = useWords();
  const { messages, edit, regenerate } = useTalk();
  const { turns, askedHere, problem } = earlier;
  // An answer that started before the page was opened is shown among the earlier turns.
  const begunBefore = new Set(turns.map(({ turnId }) => turnId).filter((id) => !askedHere.has(id)));
  const list = useRef<HTMLDivElement>(null);
  const isNear = useRef(true);
  /** Whether the reader has left the end. */
  const [isAway, setAway] = useState(false);
  const top = useRef(0);
  const last = messages.at(-1);

  useLayoutEffect(() => {
    // After sending a message, the person wants to see the answer.
    if (last?.role === "user" && last.from === undefined) isNear.current = true;
  }, [last]);
  useEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    const follow = () => {
      if (isNear.current) element.scrollTop = element.scrollHeight;
    };
    const grown = new ResizeObserver(follow);
    grown.observe(element);
    for (const child of element.children) grown.observe(child);
    return () => grown.disconnect();
  }, []);

  return (
    <div
      className="scroll"
      ref={list}
      role="region"
      aria-label={words.messages}
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        // New messages also move the end away, so scrolling up is the only sign that the person wants to leave the end.
        const isUp = scrollTop < top.current;
        top.current = scrollTop;
        isNear.current = scrollHeight - scrollTop - clientHeight < NEAR_PX || (isNear.current && !isUp);
        setAway(!isNear.current);
      }}
    >
      <div className="messages">
        {turns.length > 0 && <EarlierTurns earlier={earlier} edit={edit} regenerate={regenerate} />}
        {turns.length === 0 && problem}
        <ol className="list">
          {messages.map(
            ({ id }) => !begunBefore.has(id) && <MessageView key={id} id={id} edit={edit} regenerate={regenerate} />,
          )}
        </ol>
      </div>
      {isAway && (
        <button type="button" className="newest" onClick={() => list.current?.scrollTo(0, list.current.scrollHeight)}>
          {words.newest}
        </button>
      )}
    </div>
  );
}
