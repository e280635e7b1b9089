import type { PermissionOptions } from "@parley/client";
import { useCallback } from "react";
import { useParleyContext } from "./parley-provider.tsx";
import type { Permission } from "./store/permission.ts";
import { useWatched } from "./use-watched.ts";

interface Permissions {
  /**
   * Permission requests waiting for this participant, oldest first. A request that is answered elsewhere is removed.
   */
  readonly open: readonly Permission[];
  /** Rejects if the answer does not count, for example because the request has expired. */
  readonly approve: (id: string, how?: "once" | "always", options?: PermissionOptions<"once">) => Promise<void>;
  /** Rejects like `approve`. */
  readonly reject: (id: string, options?: PermissionOptions<"reject">) => Promise<void>;
  /** Restarts a request's timeout. Needs the provider's `http`. Rejects if the request cannot be extended again. */
  readonly extend: (id: string) => Promise<void>;
}

/** Returns the permission requests waiting for this participant, and functions to answer them. */
export function usePermissions(): Permissions {
  const { client, http } = useParleyContext();
  const open = useWatched(client.permissions.subscribe, () => client.permissions.open);
  const approve = useCallback<Permissions["approve"]>(
    async (id, how = "once", options) => client.opened().respondToPermission(id, how, options),
    [client],
  );
  const reject = useCallback<Permissions["reject"]>(
    async (id, options) => client.opened().respondToPermission(id, "reject", options),
    [client],
  );
  const extend = useCallback<Permissions["extend"]>(
    async (id) => {
      const asked = client.permissions.open.find((each) => each.id === id);
      if (!http || !asked)
        throw new Error("Cannot extend: the permission request is closed, or ParleyProvider has no http");
      const path = `/session/${encodeURIComponent(asked.sessionId)}/permissions/${encodeURIComponent(id)}/extend`;
      const headers = { authorization: `Bearer ${http.token}` };
      const response = await fetch(`${http.url}${path}`, { method: "POST", headers });
      if (response.ok) return;
      const { error } = (await response.json().catch(() => ({}))) as { error?: string };
      throw new Error(error ?? `The worker answered with HTTP ${response.status}`);
    },
    [client, http],
  );
  return { open, approve, reject, extend };
}
