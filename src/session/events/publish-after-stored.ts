import type { Recorder } from "../record/recorder.ts";
import type { SessionEvent, SessionWatcher } from "./session-event.ts";

/**
 * Delays a watcher's tool events (the end of a tool use, and tool results) until their block is stored. If a block
 * cannot be stored, its events are dropped, so clients only see what is in the record. Later events wait too, so the
 * order is preserved.
 */
export function publishAfterStored(watch: SessionWatcher, recorder: Pick<Recorder, "durable">): SessionWatcher {
  let last: Promise<void> | undefined;
  return (event) => {
    const storedIn = turnOfStored(event);
    if (!last && storedIn === undefined) return watch(event);
    const isStored = storedIn === undefined ? true : recorder.durable(storedIn).then(...YES_OR_NO);
    const tell = async () => {
      if (await isStored) watch(event);
    };
    const told = (last ?? Promise.resolve()).then(tell).finally(() => {
      if (last === told) last = undefined;
    });
    last = told;
  };
}

const YES_OR_NO = [() => true, () => false] as const;

/** Returns the turn id of an event that must wait until its block is stored, or `undefined` for any other event. */
function turnOfStored(event: SessionEvent): string | undefined {
  if (event.type !== "turn") return undefined;
  const { event: told, turn } = event;
  switch (told.type) {
    case "block_start":
      return told.blockType === "tool_result" ? turn.id : undefined;
    case "block_delta":
      return told.delta.type === "tool_result" ? turn.id : undefined;
    case "block_stop":
      return told.block.blockType.includes("tool") ? turn.id : undefined;
    default:
      return undefined;
  }
}
