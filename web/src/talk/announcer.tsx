import { textOf, useParley, useToolCalls, useTalk, useMessage } from "@parley/react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useSound } from "../voice/sound-switch.ts";
import { toTitle } from "../tools/describe-call.ts";
import { useWords, type Words } from "../shared/words/words.ts";

/**
 * Tells screen readers at most two things per turn: the first tool used, and the complete answer. Notices that tools
 * show announce themselves. Text is not announced while it streams, and a spoken answer is audible anyway.
 */
export function Announcer(): ReactNode {
  const { announced: words } = useWords();
  /** The key changes with each sentence, so that a repeated sentence is announced again. */
  const [{ key, sentence }, setAnnouncement] = useState({ key: "", sentence: "" });
  const parley = useParley();
  const calls = useToolCalls();
  const { messages } = useTalk();
  const last = useMessage(messages.findLast(({ role }) => role === "assistant")?.id ?? "");
  const announced = useRef(new Set<string>());
  const hasSound = useSound();
  const first = last && calls.find(({ messageId }) => messageId === last.id);

  useEffect(() => {
    const ofCall = `call ${last?.id}`;
    if (!first || last?.state !== "open" || announced.current.has(ofCall)) return;
    announced.current.add(ofCall);
    setAnnouncement({ key: ofCall, sentence: words.using(toTitle(first.name)) });
  }, [first, last, words]);

  useEffect(() => {
    if (!last || last.state === "open" || announced.current.has(last.id)) return undefined;
    // Waits, because the last sentences may arrive after the end of the turn.
    const timer = setTimeout(() => {
      announced.current.add(last.id);
      setAnnouncement({
        key: last.id,
        sentence: endOf(last.state, last.isSpoken === true && hasSound ? "" : textOf(last), words),
      });
    }, 300);
    return () => clearTimeout(timer);
  }, [last, parley, hasSound, words]);

  return (
    <p className="visually-hidden" role="status" aria-live="polite">
      <span key={key}>{sentence}</span>
    </p>
  );
}

function endOf(state: string, text: string, words: Words["announced"]): string {
  if (state === "completed") return text === "" ? words.ended : words.answer(text);
  return state === "failed" ? words.failed(text) : words.stopped(text);
}
