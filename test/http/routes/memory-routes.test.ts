import { expect, test } from "vitest";
import { addMemory } from "../../../src/store/memory/memories.ts";
import { forFile } from "../../support/lifetimes.ts";
import { EventServer, roomToken } from "../../support/servers/event-server.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const database = forFile(tempDatabase);
const server = forFile(() => EventServer.start({ databaseUrl: database.url }));

async function as(identity: string, path: string, method = "GET"): Promise<readonly [number, unknown]> {
  const headers = { authorization: `Bearer ${await roomToken("any room", { identity })}` };
  const response = await fetch(`${server.url}${path}`, { method, headers });
  return [response.status, await response.json()];
}

test("a person sees and deletes their own memories, and nobody else's", async () => {
  const tea = await addMemory(database.sql, { identity: "ann", text: "Tea" });
  const sugar = await addMemory(database.sql, { identity: "ann", text: "No sugar" });

  expect(await as("ann", "/memories")).toEqual([
    200,
    [
      { id: tea, text: "Tea", createdAt: expect.any(Number) as number },
      { id: sugar, text: "No sugar", createdAt: expect.any(Number) as number },
    ],
  ]);
  expect(await as("bob", "/memories")).toEqual([200, []]);
  expect(await as("bob", `/memories/${tea}`, "DELETE")).toEqual([404, { error: "There is no such memory" }]);
  expect(await as("ann", `/memories/${tea}`, "DELETE")).toEqual([200, { forgotten: 1 }]);
  expect(await as("ann", "/memories", "DELETE")).toEqual([200, { forgotten: 1 }]);
  expect(await as("ann", "/memories")).toEqual([200, []]);
});
