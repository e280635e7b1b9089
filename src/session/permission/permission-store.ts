import {
  type NewPermission,
  type PermissionEnd,
  endPermission,
  insertPermission,
  withdrawPermissions,
} from "../../store/permissions/ask-permission.ts";
import { type GrantRecord, listGrants } from "../../store/permissions/grants.ts";
import type { EventHub } from "../../store/event-hub.ts";
import { type PermissionRecord, loadPermission } from "../../store/permissions/load-permissions.ts";
import { replyToPermission, type PermissionReply } from "../../store/permissions/reply-to-permission.ts";
import type { SessionWriter } from "../../store/sessions/session-writer.ts";

export type PermissionEvents = Pick<EventHub, "listen" | "follow">;

/** Stores and decides permission requests, no matter who answers them or in which process. */
export interface PermissionStore {
  readonly insert: (permission: NewPermission) => Promise<PermissionRecord>;
  readonly load: (permissionId: string) => Promise<PermissionRecord | undefined>;
  readonly reply: (reply: PermissionReply) => ReturnType<typeof replyToPermission>;
  readonly close: (end: PermissionEnd) => Promise<PermissionRecord | undefined>;
  readonly withdraw: (callId: string) => Promise<readonly PermissionRecord[]>;
  readonly grants: (identity: string) => Promise<readonly GrantRecord[]>;
  readonly listen: (listener: PermissionListener) => { readonly close: () => void };
}

export interface PermissionListener {
  /** Must not throw. */
  readonly onAnswered: (permissionId: string) => void;
  /** Called when listening for new answers has started or restarted. Earlier answers may have been missed. */
  readonly onListening: () => void;
}

/** @param events reports answers, for all sessions in this process */
export function createPermissionStore(writer: SessionWriter, events: PermissionEvents): PermissionStore {
  const { sql, lease } = writer;
  return {
    insert: (permission) => insertPermission(writer, permission),
    load: (permissionId) => loadPermission(sql, { permissionId }),
    reply: (reply) => replyToPermission(sql, reply),
    close: (end) => endPermission(writer, end),
    withdraw: (callId) => withdrawPermissions(writer, { callId }),
    grants: (identity) => listGrants(sql, { identity }),
    listen: ({ onAnswered, onListening }) => {
      let isClosed = false;
      const stop = events.follow(lease.sessionId, { onEvent: onAnswered, onGap: onListening });
      void events.listen().then(() => isClosed || onListening());
      const close = () => {
        isClosed = true;
        stop();
      };
      return { close };
    },
  };
}
