import type { Recorder } from "../record/recorder.ts";
import type { SessionEvent, SessionWatcher } from "./session-event.ts";

/**
 * Tells a watcher of the end of a tool use, and of a tool's result, only when that block is stored, and never if it cannot
 * be, so that clients may rely on the record. Later events wait, so that the order stays.
 */
export function behindRecord(watch: SessionWatcher, recorder: Pick<Recorder, "durable">): SessionWatcher {
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

/** The turn of an event that is told once its block is stored; `undefined` for any other event. */
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
