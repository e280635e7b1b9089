import { useCallback } from "react";
import { useTalkClient } from "./parley-provider.tsx";
import { useWatched } from "./use-watched.ts";

interface Voice {
  /** Whether the worker understands speech. If not, a microphone is of no use. `undefined` until the worker has said it. */
  readonly listens: boolean | undefined;
  /** Whether the worker speaks its answers. `undefined` until the worker has said it. */
  readonly speaks: boolean | undefined;
  /**
   * Tells the worker whether this page plays the agent's sound, as it is taken to do at first. While nobody in the room
   * does, answers are not spoken, and their sentences come at once. The page itself plays the sound, or does not.
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
