import { expect, test } from "vitest";
import { createConversationArchive } from "../../../src/session/record/conversation-archive.ts";
import { restore } from "../../../src/session/restore/restore.ts";
import { finishTurn, insertTurn, storeContext } from "../../../src/store/turns/write-turns.ts";
import { newTurn, storedSession } from "../../store/store-fixtures.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const database = forEachTest(tempDatabase);
const measured = { tokens: 900, bytes: 3_000 };
const tool = { name: "scan", description: "S.", inputSchema: { type: "object" }, owner: "ann" };

/** Four finished turns, all of them shown, and one that its worker left running. */
async function storedTalk() {
  const writer = await storedSession(database.sql);
  for (let turn = 0; turn < 4; turn++) {
    const row = newTurn();
    await insertTurn(writer, row);
    await finishTurn(writer, { turnId: row.id, state: "completed", model: "m", context: { from: 1, measured } });
  }
  const running = newTurn();
  await insertTurn(writer, running);
  const restored = () =>
    restore(writer, {
      archive: createConversationArchive(writer, { model: "m", maxBytes: 20_000 }),
      resultMaxBytes: 1_000,
    });
  return { writer, running, restored };
}

test("a resumed turn continues from its own context, if that was not the previous turn's", async () => {
  const { writer, running, restored } = await storedTalk();
  const context = {
    from: 3,
    thinking: { position: 5, sequence: 0 },
    tools: [{ before: 0, added: [tool], removed: [] }],
  };
  await storeContext(writer, { turnId: running.id, context });

  const { window, unfinished } = await restored();

  expect(window.turns.map(({ position }) => position)).toEqual([3, 4]);
  expect(window.context).toEqual(context);
  expect(unfinished?.turn.context).toEqual(context);
});

test("otherwise it continues from the previous turn's context, which the API has counted", async () => {
  const { restored } = await storedTalk();

  const { window } = await restored();

  expect(window.turns.map(({ position }) => position)).toEqual([1, 2, 3, 4]);
  expect(window.context).toEqual({ from: 1, measured });
});
