import { type ReactNode, useCallback, useEffect, useState } from "react";
import { useWords } from "./words/words.ts";

interface FromRecord<Value> {
  /** `undefined` until the value is loaded. */
  readonly value: Value | undefined;
  /** Why the value could not be loaded or changed, for people. */
  readonly problem: ReactNode;
  /** Reloads the value, after `change` if provided. Never rejects. */
  readonly reload: (change?: Promise<unknown>) => Promise<void>;
}

/**
 * Loads a value from the worker's record, and reloads it when `since` changes. `read` must be the same function in each
 * render.
 */
export function useRecord<Value>(
  token: string,
  read: (token: string) => Promise<Value>,
  since?: unknown,
): FromRecord<Value> {
  const words = useWords();
  const [value, setValue] = useState<Value>();
  const [problem, setProblem] = useState<string>();
  const reload = useCallback(
    async (change?: Promise<unknown>) => {
      try {
        await change;
        setValue(await read(token));
        setProblem(undefined);
      } catch (error) {
        setProblem(error instanceof Error ? error.message : String(error));
      }
    },
    [token, read],
  );
  useEffect(() => void reload(), [reload, since]);
  return {
    value,
    problem: problem !== undefined && (
      <p className="hint" role="alert">
        {words.conversations.recordProblem(problem)}
      </p>
    ),
    reload,
  };
}
