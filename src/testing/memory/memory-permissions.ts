import { createId } from "../../lib/id.ts";
import type { PermissionListener, PermissionStore } from "../../session/permission/permission-store.ts";
import type { NewPermission, PermissionEnd } from "../../store/permissions/ask-permission.ts";
import type { GrantRecord } from "../../store/permissions/grants.ts";
import type { PermissionRecord } from "../../store/permissions/load-permissions.ts";
import type { PermissionReply } from "../../store/permissions/reply-to-permission.ts";

/** Stores permissions and grants in memory, and decides as the database does. */
export class MemoryPermissions implements PermissionStore {
  readonly rows = new Map<string, PermissionRecord>();
  readonly granted: GrantRecord[] = [];
  listener: PermissionListener | undefined;
  readonly #sessionId: string;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  readonly insert = async ({ waitMs, whileRunning, ...permission }: NewPermission): Promise<PermissionRecord> => {
    const existing = [...this.rows.values()].find(({ callId }) => callId === permission.callId);
    if (existing && !whileRunning) return existing;
    const now = Date.now();
    const record: PermissionRecord = {
      ...permission,
      sessionId: this.#sessionId,
      detail: "full",
      state: "asked",
      isAlways: false,
      message: null,
      editedInput: null,
      repliedBy: null,
      repliedVia: null,
      createdAt: now,
      expiresAt: now + waitMs,
      repliedAt: null,
      leftMs: waitMs,
    };
    this.rows.set(record.id, record);
    return record;
  };

  readonly load: PermissionStore["load"] = async (permissionId) => this.rows.get(permissionId);

  readonly reply = async ({ permissionId, by, via, decision }: PermissionReply) => {
    const record = this.rows.get(permissionId);
    if (!record) return "unknown" as const;
    if (record.participantIdentity !== by) return "not_asked" as const;
    if (record.state !== "asked") return "answered" as const;
    const isAlways = decision.kind === "approve" && decision.isAlways;
    const decided: PermissionRecord = {
      ...record,
      state: decision.kind === "approve" ? "approved" : "rejected",
      isAlways,
      message: decision.kind === "reject" ? (decision.message ?? null) : null,
      editedInput: decision.kind === "approve" ? (decision.edited?.input ?? null) : null,
      repliedBy: by,
      repliedVia: via,
      repliedAt: Date.now(),
    };
    this.rows.set(permissionId, decided);
    if (isAlways) this.#grant(decided, decision.edited?.patterns);
    return decided;
  };

  readonly close = async ({ permissionId, state }: PermissionEnd) => {
    const record = this.rows.get(permissionId);
    if (record?.state === "asked") this.rows.set(permissionId, { ...record, state });
    return this.rows.get(permissionId);
  };

  readonly withdraw: PermissionStore["withdraw"] = async (callId) => {
    const asked = [...this.rows.values()].filter((row) => row.callId === callId && row.state === "asked");
    for (const row of asked) this.rows.set(row.id, { ...row, state: "withdrawn" });
    return asked.map(({ id }) => this.rows.get(id) ?? []).flat();
  };

  readonly grants = async () => this.granted;

  #grant({ toolName, type, pattern }: PermissionRecord, patterns: readonly string[] = pattern): void {
    const createdAt = Date.now();
    for (const each of patterns) this.granted.push({ id: createId(), toolName, type, pattern: each, createdAt });
  }

  readonly listen = (listener: PermissionListener) => {
    this.listener = listener;
    return { close: async () => {} };
  };
}
