import { useParley, useTalk } from "@parley/react";
import { type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import { EarlierTurns } from "./earlier-turns.tsx";
import { MessageView } from "./message-view.tsx";

/** Nearer to the end than this, the list follows what comes; else it stays where the reader is. */
const NEAR_PX = 80;

export function MessageList(): ReactNode {
  const { messages, edit, regenerate } = useTalk();
  const parley = useParley();
  const list = useRef<HTMLDivElement>(null);
  const isNear = useRef(true);
  const top = useRef(0);
  const last = messages.at(-1);

  useLayoutEffect(() => {
    // Whoever says something wants to see what comes of it.
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
      aria-label="Messages"
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        // What has come since makes the end farther away, too: only who scrolls up wants to leave it.
        const isUp = scrollTop < top.current;
        top.current = scrollTop;
        isNear.current = scrollHeight - scrollTop - clientHeight < NEAR_PX || (isNear.current && !isUp);
      }}
    >
      <div className="messages">
        <EarlierTurns
          shown={messages}
          otherwise={
            <p className="empty">{parley ? "Say something, or ask: “what is 21 * 2?”" : "Opening the talk …"}</p>
          }
        />
        <ol className="list">
          {messages.map(({ id }) => (
            <MessageView key={id} id={id} edit={edit} regenerate={regenerate} />
          ))}
        </ol>
      </div>
    </div>
  );
}
