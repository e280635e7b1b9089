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
  readonly #ended = new Set<string>();

  constructor(options: PermissionFeedOptions) {
    this.#options = options;
  }

  /**
   * Sends the open requests. Also sends the end of each request that was sent as open and has ended since.
   *
   * @throws {AppError} `unavailable`
   */
  async showNow(): Promise<void> {
    const { reads, sessionId } = this.#options;
    const open = await reads.read(loadOpenPermissions, { sessionId });
    for (const permission of open) await this.#show(permission);
    const ids = new Set(open.map(({ id }) => id));
    for (const id of this.#asked.keys()) if (!ids.has(id)) await this.showReported({ permissionId: id });
  }

  /** Sends the request that a live event refers to. @throws {AppError} `unavailable` */
  async showReported({ permissionId }: JsonObject): Promise<void> {
    const { reads, sessionId } = this.#options;
    if (typeof permissionId !== "string" || this.#ended.has(permissionId)) return;
    const permission = await reads.read(loadPermission, { permissionId });
    if (permission?.sessionId === sessionId) await this.#show(permission);
  }

  async #show(permission: PermissionRecord): Promise<void> {
    const { send, toAsked, toExtended, toReplied, identity } = this.#options;
    const shown = redactPermission(identity, permission);
    if (!shown || this.#ended.has(shown.id)) return;
    const { id, state, expiresAt } = shown;
    const sentExpiry = this.#asked.get(id);
    this.#asked.set(id, expiresAt);
    // Send the start even if the request has ended by now: a reader cannot interpret an end without a start.
    if (sentExpiry === undefined) await send(toAsked(shown));
    else if (toExtended && state === "asked" && expiresAt > sentExpiry) await send(toExtended(shown));
    if (state === "asked") return;
    this.#asked.delete(id);
    this.#ended.add(id);
    evictOldest(this.#ended, REMEMBERED);
    await send(toReplied(shown));
  }
}
