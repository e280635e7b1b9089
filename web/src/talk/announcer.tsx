import { textOf, useParley, useToolCalls, useTalk, useMessage } from "@parley/react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { toTitle } from "../tools/describe-call.ts";

/**
 * Tells screen readers of a turn's boundaries, at most twice a turn: the first tool that is used, and the answer once it
 * is whole. Text that streams is never announced, and a spoken answer is heard anyway.
 */
export function Announcer(): ReactNode {
  const [sentence, setSentence] = useState("");
  const parley = useParley();
  const calls = useToolCalls();
  const { messages } = useTalk();
  const last = useMessage(messages.findLast(({ role }) => role === "assistant")?.id ?? "");
  const told = useRef(new Set<string>());
  const first = last && calls.find(({ messageId }) => messageId === last.id);

  useEffect(() => {
    const key = `call ${last?.id}`;
    if (!first || last?.state !== "open" || told.current.has(key)) return;
    told.current.add(key);
    setSentence(`The agent uses ${toTitle(first.name)}.`);
  }, [first, last]);

  useEffect(() => {
    if (!last || last.state === "open" || told.current.has(last.id)) return undefined;
    // Its last sentences may come after its end.
    const timer = setTimeout(() => {
      told.current.add(last.id);
      setSentence(endOf(last.state, last.isSpoken === true ? "" : textOf(last)));
    }, 300);
    return () => clearTimeout(timer);
  }, [last, parley]);

  return (
    <p className="visually-hidden" role="status" aria-live="polite">
      {sentence}
    </p>
  );
}

function endOf(state: string, text: string): string {
  if (state === "completed") return text === "" ? "The answer has ended." : `Answer: ${text}`;
  return `The answer was ${state === "failed" ? "not given" : "stopped"}. ${text}`;
}
