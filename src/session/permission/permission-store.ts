import { type Logger } from "pino";
import {
  type NewPermission,
  type PermissionEnd,
  endPermission,
  insertPermission,
  withdrawPermissions,
} from "../../store/permissions/ask-permission.ts";
import { type GrantRecord, listGrants } from "../../store/permissions/grants.ts";
import { listenEvents } from "../../store/events.ts";
import { type PermissionRecord, loadPermission } from "../../store/permissions/load-permissions.ts";
import {
  PERMISSION_CHANNEL,
  replyToPermission,
  type PermissionReply,
} from "../../store/permissions/reply-to-permission.ts";
import { type SessionWriter } from "../../store/sessions/session-writer.ts";

/** Where requests are stored and decided, in whatever process they are answered. */
export interface PermissionStore {
  readonly insert: (permission: NewPermission) => Promise<PermissionRecord>;
  readonly load: (permissionId: string) => Promise<PermissionRecord | undefined>;
  readonly reply: (reply: PermissionReply) => ReturnType<typeof replyToPermission>;
  readonly close: (end: PermissionEnd) => Promise<PermissionRecord | undefined>;
  readonly withdraw: (callId: string) => Promise<readonly PermissionRecord[]>;
  readonly grants: (identity: string) => Promise<readonly GrantRecord[]>;
  readonly listen: (listener: PermissionListener) => { readonly close: () => Promise<void> };
}

export interface PermissionListener {
  /** Must not throw. */
  readonly onAnswered: (permissionId: string) => void;
  /** Answers are heard from now on. Those before were not. */
  readonly onListening: () => void;
}

interface StoreOptions {
  readonly databaseUrl: string;
  readonly logger: Pick<Logger, "warn">;
}

export function createPermissionStore(writer: SessionWriter, { databaseUrl, logger }: StoreOptions): PermissionStore {
  const { sql, lease } = writer;
  return {
    insert: (permission) => insertPermission(writer, permission),
    load: (permissionId) => loadPermission(sql, { permissionId }),
    reply: (reply) => replyToPermission(sql, reply),
    close: (end) => endPermission(writer, end),
    withdraw: (callId) => withdrawPermissions(writer, { callId }),
    grants: (identity) => listGrants(sql, { identity }),
    listen: ({ onAnswered, onListening }) =>
      listenEvents({
        databaseUrl,
        channel: PERMISSION_CHANNEL,
        sql,
        onEvent: (ofSession, permissionId) => {
          if (ofSession === lease.sessionId) onAnswered(permissionId);
        },
        onListening,
        onError: (error) => logger.warn({ error }, "permission answers are not heard"),
      }),
  };
}
