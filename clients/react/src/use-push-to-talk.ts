import { useCallback, useEffect, useRef, useState } from "react";
import { useTalkClient } from "./parley-provider.tsx";

interface PushToTalk {
  /** Whether this page's participant is speaking: from `start` until `end` or `cancel`, or until `start` is refused. */
  readonly isTalking: boolean;
  /**
   * Begins to speak, as when a button is pressed. From now on, the agent hears the microphone. Rejects with the worker's
   * error, for example while another participant is speaking.
   */
  readonly start: () => Promise<void>;
  /** Ends what `start` has begun. The agent answers. Rejects like `start`. */
  readonly end: () => Promise<void>;
  /** Ends what `start` has begun, and keeps nothing of it. Rejects like `start`. */
  readonly cancel: () => Promise<void>;
}

/**
 * Returns functions for a push-to-talk button, for agents with `voice.turns: "manual"`. What has begun when the
 * component is unmounted is canceled.
 */
export function usePushToTalk(): PushToTalk {
  const client = useTalkClient();
  const [isTalking, setTalking] = useState(false);
  const isOpen = useRef(false);
  const set = useCallback((is: boolean) => {
    isOpen.current = is;
    setTalking(is);
  }, []);
  const called = useRef<Promise<unknown>>(Promise.resolve());
  /** Calls the agent once it has answered the earlier calls, so that a turn never ends before it has begun. */
  const call = useCallback(
    (method: "startTurn" | "endTurn" | "cancelTurn") => {
      const calling = called.current.then(() => client.opened()[method]());
      called.current = calling.catch(() => {});
      return calling;
    },
    [client],
  );
  const start = useCallback(async () => {
    set(true);
    try {
      await call("startTurn");
    } catch (error) {
      set(false);
      throw error;
    }
  }, [call, set]);
  const end = useCallback(async () => {
    set(false);
    await call("endTurn");
  }, [call, set]);
  const cancel = useCallback(async () => {
    set(false);
    await call("cancelTurn");
  }, [call, set]);
  useEffect(
    () => () => {
      if (isOpen.current) cancel().catch(() => {});
    },
    [cancel],
  );
  return { isTalking, start, end, cancel };
}
