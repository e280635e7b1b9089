import { setTimeout as sleep } from "node:timers/promises";
import { rotate, type Work } from "./work.ts";

/** The maximum number of rounds. A stock agent that starts a process per room needs about a minute for each round. */
const MAX_ROUNDS = 3;
/**
 * How long to pause before each round. In this time, the previous rooms end and stock agents start processes for the
 * next rooms.
 */
const REST_MS = 10_000;

/**
 * Creates many rooms at once. Measures the time from joining until an agent listens, for each room and for the last
 * room.
 */
export const roomsAtOnce: Work = {
  name: "rooms-at-once",
  hasArms: true,
  async run({ arms, extent, samples, progress }) {
    // Python's processes for this many sessions would take 7 GB.
    const own = arms.filter(({ name }) => name !== "agents-python");
    // Joins one room with each agent, so that the agent has loaded everything that it loads with its first room.
    for (const arm of own) await (await arm.join("plain"))[Symbol.asyncDispose]();
    for (let round = 0; round < Math.min(extent.rounds, MAX_ROUNDS); round++) {
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
