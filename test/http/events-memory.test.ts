import { expect, test } from "vitest";
import type { TurnBlock } from "../../src/conversation/block.ts";
import { insertTurn } from "../../src/store/turns/write-turns.ts";
import { newTurn, storedRoom, textBlock, writerOf } from "../store/store-fixtures.ts";
import { forFile } from "../support/lifetimes.ts";
import { EventServer } from "../support/servers/event-server.ts";
import { tempDatabase } from "../support/servers/temp-database.ts";

const database = forFile(tempDatabase);
const server = forFile(() => EventServer.start({ databaseUrl: database.url }));

const REMEMBERED: readonly TurnBlock[] = [
  {
    sequence: 0,
    blockType: "tool_use",
    textContent: null,
    content: { tool_use_id: "toolu_1", tool_name: "remembered", input: { participant: "ann" } },
  },
  {
    sequence: 1,
    blockType: "tool_result",
    textContent: null,
    content: { tool_use_id: "toolu_1", content: '{"remembered":[{"id":"1","text":"A secret"}]}', is_error: false },
  },
];

test.each(["0.end", "1.0"])(
  "what is remembered about one participant is never an event for another, from %s on",
  async (from) => {
    const { room, sessionId: id } = await storedRoom(database.sql);
    const blocks = [...REMEMBERED, textBlock(2, "Hello, Ann.")];
    await insertTurn(writerOf(database.sql, id), newTurn({ participantIdentity: "ann", blocks }));
    await database.sql`update turns set state = 'completed' where session_id = ${id}`;

    await using reader = await server.open({ id, room }, { identity: "bob", lastEventId: from });
    await reader.next(({ event }) => event === "turn_complete");

    expect(reader.events.flatMap(({ id: eventId }) => eventId ?? [])).toEqual(["1.2", "1.end"]);
    expect(reader.text).toContain("Hello, Ann.");
    expect(reader.text).not.toMatch(/remembered|secret/);
  },
);
