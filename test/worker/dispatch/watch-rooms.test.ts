import pino from "pino";
import { expect, test } from "vitest";
import { watchRooms } from "../../../src/worker/dispatch/watch-rooms.ts";
import type { RoomClients } from "../../../src/worker/dispatch/ensure-agent.ts";
import { forFile } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const database = forFile(tempDatabase);
/** More than a worker pauses that can look, and less than one that cannot. */
const WATCHED_MS = 3_000;

test("a worker that cannot reach LiveKit leaves the looking for rooms to others", async () => {
  let looks = 0;
  const rooms = {
    listRooms: async () => {
      looks += 1;
      throw new Error("connect ECONNREFUSED");
    },
  };

  await watchRooms({
    clients: { rooms } as unknown as RoomClients,
    sql: database.sql,
    isServed: () => false,
    freePlaces: () => 1,
    onRooms: async () => {},
    logger: pino({ level: "silent" }),
    signal: AbortSignal.timeout(WATCHED_MS),
  });

  expect(looks).toBe(1);
});
