import type { PermissionOptions } from "@parley/client";
import { useCallback, useSyncExternalStore } from "react";
import { useTalkClient } from "./parley-provider.tsx";
import type { Permission } from "./store/permission.ts";

interface Permissions {
  /** Questions that wait for this participant, the oldest first. One that was answered elsewhere goes by itself. */
  readonly open: readonly Permission[];
  readonly approve: (id: string, how?: "once" | "always", options?: PermissionOptions<"once">) => Promise<void>;
  readonly reject: (id: string, options?: PermissionOptions<"reject">) => Promise<void>;
}

/** The questions of calls that need this participant's permission, and its answers. */
export function usePermissions(): Permissions {
  const client = useTalkClient();
  const open = useSyncExternalStore(client.permissions.subscribe, () => client.permissions.open);
  const approve = useCallback<Permissions["approve"]>(
    async (id, how = "once", options) => client.parley?.respondToPermission(id, how, options),
    [client],
  );
  const reject = useCallback<Permissions["reject"]>(
    async (id, options) => client.parley?.respondToPermission(id, "reject", options),
    [client],
  );
  return { open, approve, reject };
}
