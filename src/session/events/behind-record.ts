import { type Recorder } from "../record/recorder.ts";
import { type SessionEvent, type SessionWatcher } from "./session-event.ts";

/**
 * Tells a watcher that a tool's use or result has ended once that is stored, and never if it cannot be: whoever hears of
 * it may rely on the record. What comes after it waits behind it, so the order stays; while nothing waits, nothing does.
 */
export function behindRecord(watch: SessionWatcher, recorder: Pick<Recorder, "durable">): SessionWatcher {
  let last: Promise<void> | undefined;
  return (event) => {
    const endedIn = turnOfToolEnd(event);
    if (!last && endedIn === undefined) return watch(event);
    const isStored = endedIn === undefined ? true : recorder.durable(endedIn).then(...YES_OR_NO);
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

/** The turn whose tool_use or tool_result block has ended, if this is what happened. */
function turnOfToolEnd(event: SessionEvent): string | undefined {
  if (event.type !== "turn" || event.event.type !== "block_stop") return undefined;
  return event.event.block.blockType.includes("tool") ? event.turn.id : undefined;
}
