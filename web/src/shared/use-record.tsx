import { type ReactNode, useCallback, useEffect, useState } from "react";

interface FromRecord<Value> {
  /** `undefined` until it has been read. */
  readonly value: Value | undefined;
  /** Why it could not be read, or changed, for people. */
  readonly problem: ReactNode;
  /** Reads it anew, once `change` is done. Never rejects. */
  readonly reload: (change?: Promise<unknown>) => Promise<void>;
}

/** Something of the worker's record, by a function that stays the same. It is read again when `since` has changed. */
export function useRecord<Value>(
  token: string,
  read: (token: string) => Promise<Value>,
  since?: unknown,
): FromRecord<Value> {
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
        The worker’s record cannot be read: {problem}. Leave the talk and join again.
      </p>
    ),
    reload,
  };
}
