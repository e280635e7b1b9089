import type { Parley } from "@parley/client";
import { type Permission, toPermission } from "./permission.ts";
import { ObservableStore } from "./observable-store.ts";

/** The permission requests waiting for this participant, oldest first. */
export class PermissionList extends ObservableStore {
  #open: readonly Permission[] = [];

  /** The same array object until a request is added, changed or removed. */
  get open(): readonly Permission[] {
    return this.#open;
  }

  /** Subscribes to a client. Returns a function that unsubscribes. */
  follow(parley: Parley): () => void {
    const offs = [
      parley.on("permission_request", (request) => {
        const permission = toPermission(request, Date.now());
        const place = this.#open.findIndex(({ id }) => id === request.id);
        this.#set(place < 0 ? [...this.#open, permission] : this.#open.with(place, permission));
      }),
      parley.on("permission_closed", (closed) => this.#set(this.#open.filter(({ id }) => id !== closed.id))),
      // The tool rejected the edited arguments, so the request stays open.
      parley.on("error", ({ originatingId, message }) => {
        if (this.#open.some(({ id }) => id === originatingId))
          this.#set(this.#open.map((each) => (each.id === originatingId ? { ...each, problem: message } : each)));
      }),
    ];
    return () => {
      for (const off of offs) off();
    };
  }

  /** Removes all requests. The worker resends the open requests once it has acknowledged this client. */
  clear(): void {
    this.#set([]);
  }

  #set(open: readonly Permission[]): void {
    this.#open = open;
    this.changed();
  }
}
