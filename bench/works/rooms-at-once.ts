import { setTimeout as sleep } from "node:timers/promises";
import { rotate, type Work } from "./work.ts";

/** Each takes a peer that starts a process for each room about a minute. */
const MOST_ROUNDS = 3;
/** The rooms before end meanwhile, and peers start processes for the next. */
const REST_MS = 10_000;

/** Many rooms are made in the same moment: from joining to an agent that listens, for each, and for the last. */
export const roomsAtOnce: Work = {
  name: "rooms-at-once",
  hasArms: true,
  async run({ arms, extent, samples, progress }) {
    // Python's processes for so many sessions would take 7 GB.
    const own = arms.filter(({ name }) => name !== "agents-python");
    // What an agent loads with its first room.
    for (const arm of own) await (await arm.join("plain"))[Symbol.asyncDispose]();
    for (let round = 0; round < Math.min(extent.rounds, MOST_ROUNDS); round++) {
      progress(`${extent.rooms} rooms at once, round ${round + 1}`);
      for (const arm of rotate(own, round)) {
        await sleep(REST_MS);
        await using open = new AsyncDisposableStack();
        const join = async () => open.use(await arm.join("plain")).joinMs;
        const values = await Promise.all(Array.from({ length: extent.rooms }, join));
        samples.add("roomsAtOnce", arm.name, { round, values });
        samples.add("roomsAtOnceLast", arm.name, { round, values: [Math.max(...values)] });
      }
    }
  },
};
