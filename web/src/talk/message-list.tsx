import { useParley, useTalk } from "@parley/react";
import { type ReactNode, useEffect, useRef } from "react";
import { EarlierTurns } from "./earlier-turns.tsx";
import { MessageView } from "./message-view.tsx";

/** Nearer to the end than this, the list follows what comes; else it stays where the reader is. */
const NEAR_PX = 80;

export function MessageList(): ReactNode {
  const { messages } = useTalk();
  const parley = useParley();
  const list = useRef<HTMLDivElement>(null);
  const isNear = useRef(true);

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
      aria-label="Messages"
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isNear.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      }}
    >
      <div className="messages">
        <EarlierTurns shown={messages} />
        {messages.length === 0 && (
          <p className="empty">{parley ? "Say something, or ask: “what is 21 * 2?”" : "Opening the talk …"}</p>
        )}
        <ol className="list">
          {messages.map(({ id }) => (
            <MessageView key={id} id={id} />
          ))}
        </ol>
      </div>
    </div>
  );
}
