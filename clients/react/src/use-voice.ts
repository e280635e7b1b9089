import { useCallback } from "react";
import { useTalkClient } from "./parley-provider.tsx";
import { useWatched } from "./use-watched.ts";

interface Voice {
  /**
   * Whether the worker understands speech. A microphone is only useful if it does. `undefined` until the worker has
   * announced this.
   */
  readonly listens: boolean | undefined;
  /** Whether the worker speaks its answers. `undefined` until the worker has announced this. */
  readonly speaks: boolean | undefined;
  /** Whether participants say when a spoken turn begins and ends, with `startTurn` and `endTurn` of `useParley()`. */
  readonly hasManualTurns: boolean;
  /**
   * Notifies the worker whether this page plays the agent's audio. Until the first call, the worker assumes that the
   * page plays it. While nobody in the room plays the audio, answers are not spoken and their sentences arrive
   * immediately. The page itself must play or mute the audio.
   */
  readonly listen: (listens: boolean) => void;
}

/** Returns what the worker's voice can do, and a function that sets whether this page listens to it. */
export function useVoice(): Voice {
  const client = useTalkClient();
  const { listens, speaks, turns } = useWatched(client.subscribe, () => client.worker);
  const listen = useCallback((isOn: boolean) => client.listen(isOn), [client]);
  return { listens, speaks, hasManualTurns: turns === "manual", listen };
}
