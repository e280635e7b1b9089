import type { SendTextOptions } from "@parley/client";
import { useMemo } from "react";
import { useTalkClient } from "./parley-provider.tsx";
import type { TalkMessage } from "./store/message.ts";
import type { TalkEntry } from "./store/talk-log.ts";
import { useWatched } from "./use-watched.ts";

interface Talk {
  /** The messages in order. Changes only when a message is added or removed. `useMessage(id)` returns the content. */
  readonly messages: readonly TalkEntry[];
  /** Whether a worker has acknowledged this client. Until then, messages wait before they are sent. */
  readonly isConnected: boolean;
  /** The worker's last error that was not about a message, or why a tool of `useClientTool` is not offered. */
  readonly problem: string | undefined;
  /**
   * Sends a message, optionally with `attachments`. Returns the message's id.
   *
   * @throws if there is nothing to send, or the provider has no client yet
   */
  readonly send: (text: string, options?: SendTextOptions) => string;
  /**
   * Stops the current answer. With `"speech"`, stops only the speech, and the rest of the answer is shown immediately.
   */
  readonly stop: (what?: "speech") => void;
  /**
   * Cancels one tool call by its `id`, wherever it runs. The answer continues. Rejects with the worker's error, or if
   * no worker acknowledges the request within 60 s.
   */
  readonly cancelCall: (callId: string) => Promise<void>;
  /**
   * Replaces the text of one of this participant's messages and requests a new answer. Everything after the message is
   * replaced. Rejects like `cancelCall`.
   */
  readonly edit: (messageId: string, text: string) => Promise<void>;
  /**
   * Requests a new answer to any participant's message. The answer is made with this participant's rights. Everything
   * after the message is replaced. Rejects like `cancelCall`.
   */
  readonly regenerate: (messageId: string) => Promise<void>;
}

/** Returns the conversation's messages, and the actions of a participant. */
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

/** Returns one message. While the message grows, only the components that use it re-render. */
export function useMessage(id: string): TalkMessage | undefined {
  const { log } = useTalkClient();
  return useWatched(log.subscribe, () => log.message(id));
}
