import type { PermissionEvents } from "../../../src/session/permission/permission-store.ts";
import type { SessionFollower } from "../../../src/store/event-hub.ts";

interface Follower extends SessionFollower {
  readonly world: string;
  readonly sessionId: string;
}

const followers = new Set<Follower>();

/** Replaces PostgreSQL's notifications. Events arrive at once, because no real time may pass. */
export function eventsHere(world: string): PermissionEvents {
  return {
    listen: () => Promise.resolve(),
    follow: (sessionId, { onEvent, onGap }) => {
      const follower = { world, sessionId, onEvent, onGap };
      followers.add(follower);
      return () => followers.delete(follower);
    },
  };
}

/** Notifies the followers of this session in this world. */
export function notifyListeners(world: string, sessionId: string, payload: string): void {
  for (const each of followers) if (each.world === world && each.sessionId === sessionId) each.onEvent(payload);
}

export function forgetListeners(): void {
  followers.clear();
}
