import { useCallback } from "react";
import { useTalkClient } from "./parley-provider.tsx";
import { useWatched } from "./use-watched.ts";

interface Voice {
  /** Whether the worker understands speech. If not, a microphone is of no use. `undefined` until the worker has said it. */
  readonly listens: boolean | undefined;
  /** Whether the worker speaks its answers. `undefined` until the worker has said it. */
  readonly speaks: boolean | undefined;
  /**
   * Tells the worker whether this page plays the agent's sound; until then the worker assumes that it does. While nobody
   * in the room plays it, answers are not spoken and their sentences arrive at once. The page itself plays or mutes it.
   */
  readonly listen: (listens: boolean) => void;
}

/** What the worker's voice can do, and whether anybody here listens to it. */
export function useVoice(): Voice {
  const client = useTalkClient();
  const { listens, speaks } = useWatched(client.subscribe, () => client.workerVoice);
  const listen = useCallback((isOn: boolean) => client.listen(isOn), [client]);
  return { listens, speaks, listen };
}
