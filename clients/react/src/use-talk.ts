import type { SendTextOptions } from "@parley/client";
import { useMemo } from "react";
import { useTalkClient } from "./parley-provider.tsx";
import type { TalkMessage } from "./store/message.ts";
import type { TalkEntry } from "./store/talk-log.ts";
import { useWatched } from "./use-watched.ts";

interface Talk {
  /** The messages in order. Changes only when one comes or goes; `useMessage(id)` gives what each says. */
  readonly messages: readonly TalkEntry[];
  /** Whether a worker knows this client. Messages can be sent before that, and wait for it. */
  readonly isConnected: boolean;
  /** The worker's last error that is not about a message. */
  readonly problem: string | undefined;
  /**
   * Says something, optionally with `attachments`. Returns the message's id.
   *
   * @throws when there is nothing to send, or the provider has no client yet
   */
  readonly send: (text: string, options?: SendTextOptions) => string;
  /** Ends the answer that is being given; with `"speech"` its sound alone: the rest is shown at once. */
  readonly stop: (what?: "speech") => void;
  /**
   * Cancels one tool call by its `id`, whoever runs it. Its answer goes on. Rejects when no worker takes the request
   * within 60 s.
   */
  readonly cancelCall: (callId: string) => Promise<void>;
  /** Has a message of this participant answered anew, with other words. What followed it is replaced. */
  readonly edit: (messageId: string, text: string) => Promise<void>;
  /** Has a message answered anew, with this participant's rights, whoever said it. What followed it is replaced. */
  readonly regenerate: (messageId: string) => Promise<void>;
}

/** The talk's messages, and what a participant can do in it. */
export function useTalk(): Talk {
  const client = useTalkClient();
  const messages = useWatched(client.log.subscribe, () => client.log.entries);
  const isConnected = useWatched(client.subscribe, () => client.isKnown);
  const problem = useWatched(client.subscribe, () => client.problem);
  const actions = useMemo(
    () => ({
      send: (text: string, options?: SendTextOptions) => client.send(text, options),
      stop: (what?: "speech") => client.parley?.stop(what === "speech" ? { stopType: what } : {}),
      cancelCall: (callId: string) => client.cancelCall(callId),
      edit: (messageId: string, text: string) => client.vary(messageId, text),
      regenerate: (messageId: string) => client.vary(messageId),
    }),
    [client],
  );
  return { messages, isConnected, problem, ...actions };
}

/** One message. Only components that use this message render again while it grows. */
export function useMessage(id: string): TalkMessage | undefined {
  const { log } = useTalkClient();
  return useWatched(log.subscribe, () => log.message(id));
}
