import type { SessionWatcher } from "../../session/events/session-event.ts";

/** Calls `onBusy` when the first server tool starts, and when the last one has ended. */
export function watchServerTools(onBusy: ((isBusy: boolean) => void) | undefined): SessionWatcher {
  const running = new Set<string>();
  return (event) => {
    if (event.type !== "tool_state") return;
    const { id, state, executionResolved } = event.call;
    const wasBusy = running.size > 0;
    if (state === "running" && executionResolved === "server") running.add(id);
    else running.delete(id);
    if (running.size > 0 !== wasBusy) onBusy?.(!wasBusy);
  };
}
