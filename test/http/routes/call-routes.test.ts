import { expect, test } from "vitest";
import { saveCall } from "../../../src/store/calls.ts";
import { insertTurn } from "../../../src/store/turns/write-turns.ts";
import { newCall, newTurn, storedRoom, writerOf } from "../../store/store-fixtures.ts";
import { forFile } from "../../support/lifetimes.ts";
import { EventServer, roomToken } from "../../support/servers/event-server.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const database = forFile(tempDatabase);
const server = forFile(() => EventServer.start({ databaseUrl: database.url }));

/** A room whose session has one call. */
async function roomWithCall(changes: Parameters<typeof newCall>[1]) {
  const { room, sessionId } = await storedRoom(database.sql);
  const writer = writerOf(database.sql, sessionId);
  const turn = newTurn();
  await insertTurn(writer, turn);
  await saveCall(writer, newCall(turn.id, changes));
  return { room, sessionId };
}

const whole = { state: "success", outcome: { state: "success", result: { text: "é".repeat(300_000) } } } as const;

test("a call is returned in full, however large its result is", async () => {
  const { room, sessionId } = await roomWithCall({ id: "large", input: { a: 1 }, logs: ["half way"], ...whole });

  const response = await server.getAs(await roomToken(room), `/session/${sessionId}/calls/large`);

  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(await response.json()).toEqual({
    callId: "large",
    name: expect.any(String) as string,
    state: "success",
    input: { a: 1 },
    logs: ["half way"],
    result: { text: "é".repeat(300_000) },
  });
});

test("a call in another room, or one that shows only its name, is answered as if it did not exist", async () => {
  const hidden = await roomWithCall({ id: "hidden", detail: "name", ...whole });
  const other = await roomWithCall({ id: "other", ...whole });
  const ask = async (path: string) => (await server.getAs(await roomToken(hidden.room), path)).status;

  expect(await ask(`/session/${hidden.sessionId}/calls/hidden`)).toBe(404);
  expect(await ask(`/session/${hidden.sessionId}/calls/other`)).toBe(404);
  expect(await ask(`/session/${other.sessionId}/calls/other`)).toBe(404);
});
