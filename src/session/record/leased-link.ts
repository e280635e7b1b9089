import type { SessionLease } from "./session-lease.ts";
import type { RoomLink } from "../room/room-link.ts";

/** Wraps a room link. Whatever is sent waits until it is certain that this worker owns the session. */
export function leasedLink(
  link: Pick<RoomLink, "publish" | "openTranscription">,
  lease: SessionLease,
): Pick<RoomLink, "publish" | "openTranscription"> {
  return {
    publish: async (bytes, to) => {
      if (!lease.maySpeak) await lease.untilMaySpeak();
      await link.publish(bytes, to);
    },
    openTranscription: async (segmentId) => {
      await lease.untilMaySpeak();
      const stream = await link.openTranscription(segmentId);
      const write = async (text: string, isWhole?: boolean) => {
        await lease.untilMaySpeak();
        await stream.write(text, isWhole);
      };
      return { write, close: () => stream.close() };
    },
  };
}
