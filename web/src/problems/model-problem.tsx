import { useMessage, useTalk } from "@parley/react";
import { type ReactNode, useEffect, useState } from "react";
import { useWords } from "../shared/words/words.ts";

/** Tells the person that the last message failed because the model refuses calls or cannot be reached. */
export function ModelProblem(): ReactNode {
  const words = useWords();
  const { messages } = useTalk();
  const last = useMessage(messages.findLast(({ role }) => role === "user")?.id ?? "");
  const hasFailed = last?.problem !== undefined;
  const [isFailing, setFailing] = useState(false);
  useEffect(() => {
    if (!hasFailed) return undefined;
    let isCurrent = true;
    void isModelFailing().then((is) => isCurrent && setFailing(is));
    return () => {
      isCurrent = false;
      setFailing(false);
    };
  }, [hasFailed, last?.id]);
  return isFailing && <p className="problem">{words.problems.model}</p>;
}

/** Asks the worker. Resolves to `false` if it does not answer. */
async function isModelFailing(): Promise<boolean> {
  const response = await fetch("/ready").catch(() => undefined);
  const { model } = ((await response?.json().catch(() => ({}))) ?? {}) as { model?: string };
  return model === "failed";
}
