import type { Logger } from "pino";
import { retryWhileUnavailable } from "../../store/database/retry-while-unavailable.ts";
import type { PermissionEnd } from "../../store/permissions/ask-permission.ts";
import type { PermissionRecord } from "../../store/permissions/load-permissions.ts";
import type { PermissionStore } from "./permission-store.ts";

interface OpenRequest {
  record: PermissionRecord;
  timer: NodeJS.Timeout;
  readonly resolve: (decided: PermissionRecord) => void;
}

interface OpenPermissionsOptions {
  readonly store: PermissionStore;
  /** Called when a request was given more time. */
  readonly onExtended: (record: PermissionRecord) => void;
  readonly logger: Pick<Logger, "warn">;
}

/**
 * How long to retry storing the end of a request while the database is unreachable. After that, the request counts as
 * unanswered.
 */
const GIVE_UP_AFTER_MS = 10_000;

/**
 * The permission requests that a session waits for. The store decides which answer counts, no matter which process
 * wrote it. The session learns of an answer through a notification, by rereading the store when listening starts again,
 * or at the latest when the request expires.
 */
export class OpenPermissions {
  readonly #options: OpenPermissionsOptions;
  readonly #open = new Map<string, OpenRequest>();
  #listener: { readonly close: () => void } | undefined;
  #isClosed = false;

  constructor(options: OpenPermissionsOptions) {
    this.#options = options;
  }

  /** The open requests, oldest first. */
  get records(): PermissionRecord[] {
    return [...this.#open.values()].map(({ record }) => record);
  }

  /** Resolves to the request once it is decided. Never resolves after `close`. */
  async decided(record: PermissionRecord): Promise<PermissionRecord> {
    if (record.state !== "asked") return record;
    const { promise, resolve } = Promise.withResolvers<PermissionRecord>();
    if (this.#isClosed) return promise;
    this.#open.set(record.id, { record, timer: this.#expire(record), resolve });
    this.#listener ??= this.#options.store.listen({
      onAnswered: (permissionId) => void this.#readAgain(permissionId),
      onListening: () => this.records.forEach(({ id }) => void this.#readAgain(id)),
    });
    return promise;
  }

  /** Applies a request read from the store. Does nothing if the request has not changed or is not waited for. */
  apply(record: PermissionRecord): void {
    const request = this.#open.get(record.id);
    if (!request) return;
    if (record.state === "asked") return this.#extend(request, record);
    this.#open.delete(record.id);
    clearTimeout(request.timer);
    request.resolve(record);
  }

  /**
   * Ends a request without an answer. An answer that is already in the store wins, and a request that was given more
   * time does not expire. Never rejects.
   */
  async end(end: PermissionEnd): Promise<void> {
    const { store, logger } = this.#options;
    const { permissionId, state } = end;
    const request = this.#open.get(permissionId);
    try {
      const isStillWanted = () => this.#open.has(permissionId);
      const record = await retryWhileUnavailable(() => store.close(end), {
        giveUpAfterMs: GIVE_UP_AFTER_MS,
        isStillWanted,
      });
      if (record) this.apply(record);
      // The request was given more time.
      if (record?.state === "asked" && request) return this.#waitOn(request, record);
    } catch (error) {
      logger.warn({ permissionId, error }, "storing the end of a permission request failed");
    }
    if (request) this.apply({ ...request.record, state });
  }

  /** Stops waiting. The requests stay open in the store, and the next worker continues to wait for them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { timer } of this.#open.values()) clearTimeout(timer);
    this.#open.clear();
    this.#listener?.close();
  }

  #expire({ id: permissionId, expiresAt, leftMs }: PermissionRecord): NodeJS.Timeout {
    return setTimeout(() => void this.end({ permissionId, state: "expired", expiresAt }), leftMs);
  }

  #waitOn(request: OpenRequest, record: PermissionRecord): void {
    clearTimeout(request.timer);
    if (!this.#open.has(record.id)) return;
    request.record = record;
    request.timer = this.#expire(record);
  }

  #extend(request: OpenRequest, record: PermissionRecord): void {
    if (record.expiresAt <= request.record.expiresAt) return;
    this.#waitOn(request, record);
    this.#options.onExtended(record);
  }

  async #readAgain(permissionId: string): Promise<void> {
    if (!this.#open.has(permissionId)) return;
    try {
      const record = await this.#options.store.load(permissionId);
      if (record) this.apply(record);
    } catch (error) {
      this.#options.logger.warn({ permissionId, error }, "reading permission request failed");
    }
  }
}
