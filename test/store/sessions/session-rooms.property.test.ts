import fc from "fast-check";
import { expect, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { claimSession, releaseLease } from "../../../src/store/sessions/leases.ts";
import { beginRoom, endAbandonedRoom, endRoom, findAbandonedRooms } from "../../../src/store/sessions/session-rooms.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";
import { forFile } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { sessionClaim, writerOf } from "../store-fixtures.ts";

const database = forFile(tempDatabase);

const ROOMS = 3;
const WORKERS = 2;
const worker = fc.nat(WORKERS - 1);
/** Actions of workers in any order, including workers that have lost the session and rooms that have ended. */
const actions = fc.array(
  fc.record({
    action: fc.constantFrom("claim", "release", "die", "begin", "begin", "end", "end", "look", "next room"),
    worker,
  }),
  { minLength: 20, maxLength: 40 },
);

const RUNS = propertyRuns(60);
const TIMEOUT_MS = Math.max(60_000, RUNS * 200);

test(
  "however workers come, go and check, a session starts at most once in a room, ends at most once, and one webhook reports each end",
  async () => {
    const { sql } = database;
    const check = fc.asyncProperty(actions, async (all) => {
      const claim = sessionClaim({ conversationId: createId() });
      const rooms = Array.from({ length: ROOMS }, (_, index) => `RM_${createId()}_${index}`);
      const epochs = new Map<number, number>();
      const begun: string[] = [];
      const ended: string[] = [];
      let current = 0;
      const roomSid = () => rooms[current] ?? "";
      const writer = (of: number) => writerOf(sql, claim.sessionId, epochs.get(of) ?? -1);
      const doAction = {
        claim: async (of: number) => {
          const claimed = await claimSession(sql, { ...claim, owner: `worker-${of}` });
          if (claimed) epochs.set(of, claimed.epoch);
        },
        release: (of: number) => releaseLease(writer(of)),
        die: async () =>
          void (await sql`
          update sessions set lease_expires_at = now() - interval '5 seconds' where id = ${claim.sessionId}
        `),
        begin: async (of: number) => {
          const sid = roomSid();
          const result = await beginRoom(writer(of), {
            roomSid: sid,
            agent: "a",
            afterPosition: 0,
            hasEndWebhook: true,
          });
          if (result.isNew) begun.push(sid);
          ended.push(...result.ended.map((room) => room.roomSid));
        },
        end: async (of: number) => {
          if (await endRoom(writer(of), { roomSid: roomSid(), reason: "room_deleted", hasEndWebhook: true }))
            ended.push(roomSid());
        },
        look: async () => {
          await sql`update session_rooms set started_at = now() - interval '1 minute'`;
          await sql`update sessions set updated_at = now() - interval '1 minute'`;
          for (const room of await findAbandonedRooms(sql))
            if (room.roomSid !== roomSid() && (await endAbandonedRoom(sql, { ...room, hasEndWebhook: true })))
              ended.push(room.roomSid);
        },
        "next room": async () => void (current = Math.min(current + 1, ROOMS - 1)),
      };
      await doAction.claim(0);
      const refusals = new Set<string | undefined>();
      for (const { action: name, worker: of } of all)
        await doAction[name](of).catch((error: { readonly code?: string }) => void refusals.add(error.code));

      expect([...refusals].filter((code) => code !== "lost_lease")).toEqual([]);
      expect(begun).toEqual([...new Set(begun)]);
      expect(ended).toEqual([...new Set(ended)]);
      expect(begun).toEqual(expect.arrayContaining(ended));
      const webhooks = await sql<
        { sid: string }[]
      >`select room_sid as sid from webhooks where session_id = ${claim.sessionId}`;
      expect(webhooks.map(({ sid }) => sid).toSorted()).toEqual(ended.toSorted());
      // Queries read all rooms, so rooms left from earlier runs would slow each run down.
      await sql`delete from webhooks`;
      await sql`delete from session_rooms`;
    });
    await fc.assert(check, { numRuns: RUNS, seed: propertySeed() });
  },
  TIMEOUT_MS,
);
