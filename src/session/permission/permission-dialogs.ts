import { evictOldest } from "../../lib/evict-oldest.ts";
import type { Logger } from "pino";
import type { Message, MessageBody } from "../../protocol/messages/messages.ts";
import type { PermissionRecord } from "../../store/permissions/load-permissions.ts";
import { type Outbox, StreamedRequests } from "../wire/outbox.ts";
import { MAX_ABSENT, type Peers } from "../peers/peers.ts";
import { toPermissionRequest } from "./to-permission-request.ts";

interface PermissionDialogsOptions {
  readonly outbox: Pick<Outbox, "send" | "post">;
  readonly peers: Pick<Peers, "withFeature">;
  readonly logger: Pick<Logger, "warn">;
}

/** How many decided requests are retained for a participant without dialogs, in case its client enables them. */
const MAX_MISSED = 16;

/** Shows the approver's client each request (type 101) and its end (type 102), however it was answered. */
export class PermissionDialogs {
  readonly #options: PermissionDialogsOptions;
  /** Decided requests, by identity. */
  readonly #missed = new Map<string, PermissionRecord[]>();
  readonly #streamed = new StreamedRequests();

  constructor(options: PermissionDialogsOptions) {
    this.#options = options;
  }

  show(record: PermissionRecord): void {
    const { id, participantIdentity: identity } = record;
    if (!this.#hasDialogs(identity)) return;
    const leftMs = Math.max(0, record.expiresAt - Date.now());
    const message: Message = { type: "permission_request", body: toPermissionRequest({ ...record, leftMs }) };
    // A request that could not be sent is shown again when the client returns.
    const onFailed = (error: unknown) => this.#options.logger.warn({ error }, "sending permission request failed");
    try {
      const { sent, isStream } = this.#options.outbox.send(message, { to: [identity] });
      if (isStream) this.#streamed.follow(id, sent);
      sent.catch(onFailed);
    } catch (error) {
      onFailed(error);
    }
  }

  close(record: PermissionRecord): void {
    const { id, participantIdentity: identity } = record;
    if (!this.#hasDialogs(identity)) {
      const missed = [...(this.#missed.get(identity) ?? []), record];
      this.#missed.delete(identity);
      this.#missed.set(identity, missed.slice(-MAX_MISSED));
      return evictOldest(this.#missed, MAX_ABSENT);
    }
    const message: Message = { type: "permission_response", body: toClosing(record) };
    this.#streamed.after(id, () => this.#options.outbox.post(message, { to: [identity] }));
  }

  /** Shows open requests to a client that has just sent its features, and closes those whose end it missed. */
  welcome(identity: string, open: readonly PermissionRecord[]): void {
    if (!this.#hasDialogs(identity)) return;
    const missed = this.#missed.get(identity) ?? [];
    this.#missed.delete(identity);
    for (const record of missed) this.close(record);
    for (const record of open) if (record.participantIdentity === identity) this.show(record);
  }

  #hasDialogs(identity: string): boolean {
    return this.#options.peers.withFeature("permissions").includes(identity);
  }
}

function toClosing({ id, sessionId, state, isAlways }: PermissionRecord): MessageBody<"permission_response"> {
  const approval = isAlways ? "always" : "approve";
  const response = state === "approved" ? approval : "reject";
  return { sessionId, permissionId: id, response, ...(state !== "asked" && { state }) };
}
