import type { StoredAnswer } from "../../store/turns/find-turns.ts";
import type { Outbox } from "../wire/outbox.ts";

/** Sends an answer as one AssistantMessage, to `to` or, by default, to everyone. */
export function postWhole(
  { messageId, parentMessageId, texts }: Omit<StoredAnswer, "lastStanza">,
  outbox: Outbox,
  to?: readonly string[],
): void {
  const previous = parentMessageId === null ? {} : { previousId: parentMessageId };
  const body = { id: messageId, ...previous, content: texts.join("\n") };
  outbox.post({ type: "assistant_message", body }, { ...(to && { to }) });
}
