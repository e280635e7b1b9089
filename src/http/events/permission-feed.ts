import type { JsonObject } from "../../lib/json.ts";
import { evictOldest } from "../../lib/evict-oldest.ts";
import {
  type PermissionRecord,
  loadOpenPermissions,
  loadPermission,
} from "../../store/permissions/load-permissions.ts";
import { redactPermission } from "../permissions/redact-permission.ts";
import type { SseEvent } from "../sse/sse-stream.ts";
import type { SharedReads } from "./shared-reads.ts";

interface PermissionFeedOptions {
  readonly reads: SharedReads;
  readonly sessionId: string;
  /** The reader's identity. */
  readonly identity: string;
  readonly send: (event: SseEvent) => Promise<void>;
  readonly toAsked: (permission: PermissionRecord) => SseEvent;
  /** Returns the event for an extension. Absent in a feed without such events. */
  readonly toExtended?: (permission: PermissionRecord) => SseEvent;
  readonly toReplied: (permission: PermissionRecord) => SseEvent;
}

const REMEMBERED = 1_000;

/** Sends a session's permission requests: for each, one start, every extension, and one end. */
export class PermissionFeed {
  readonly #options: PermissionFeedOptions;
  /** Requests whose start was sent but whose end was not, with the expiry time that was sent last. */
  readonly #asked = new Map<string, number>();
  readonly #over = new Set<string>();

  constructor(options: PermissionFeedOptions) {
    this.#options = options;
  }

  /** Sends the open requests, and the end of those that were sent as open. @throws {AppError} `unavailable` */
  async showNow(): Promise<void> {
    const { reads, sessionId } = this.#options;
    const open = await reads.read(loadOpenPermissions, { sessionId });
    for (const permission of open) await this.#show(permission);
    const ids = new Set(open.map(({ id }) => id));
    for (const id of this.#asked.keys()) if (!ids.has(id)) await this.showTold({ permissionId: id });
  }

  /** Sends the request that a live event refers to. @throws {AppError} `unavailable` */
  async showTold({ permissionId }: JsonObject): Promise<void> {
    const { reads, sessionId } = this.#options;
    if (typeof permissionId !== "string" || this.#over.has(permissionId)) return;
    const permission = await reads.read(loadPermission, { permissionId });
    if (permission?.sessionId === sessionId) await this.#show(permission);
  }

  async #show(permission: PermissionRecord): Promise<void> {
    const { send, toAsked, toExtended, toReplied, identity } = this.#options;
    const shown = redactPermission(identity, permission);
    if (!shown || this.#over.has(shown.id)) return;
    const { id, state, expiresAt } = shown;
    const toldUntil = this.#asked.get(id);
    this.#asked.set(id, expiresAt);
    // Sent even if the request has ended by now: a reader cannot interpret an end without a start.
    if (toldUntil === undefined) await send(toAsked(shown));
    else if (toExtended && state === "asked" && expiresAt > toldUntil) await send(toExtended(shown));
    if (state === "asked") return;
    this.#asked.delete(id);
    this.#over.add(id);
    evictOldest(this.#over, REMEMBERED);
    await send(toReplied(shown));
  }
}
