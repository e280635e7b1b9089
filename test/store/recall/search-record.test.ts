import { expect, test } from "vitest";
import type { TurnBlock } from "../../../src/conversation/block.ts";
import { saveCall } from "../../../src/store/calls.ts";
import { searchRecord, type RecordSearch } from "../../../src/store/recall/search-record.ts";
import type { SessionWriter } from "../../../src/store/sessions/session-writer.ts";
import { insertBlocks } from "../../../src/store/turns/write-blocks.ts";
import { finishSpeech, finishTurn, insertTurn, type NewTurnRow } from "../../../src/store/turns/write-turns.ts";
import { forFile } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { newCall, newTurn, storedSession, textBlock } from "../store-fixtures.ts";

const database = forFile(tempDatabase);

interface TurnContent {
  readonly by?: string;
  readonly said: string;
  readonly answer?: string;
  readonly tool?: { readonly name: string; readonly input: Record<string, string>; readonly result: string };
  readonly heard?: string;
  readonly turn?: Partial<NewTurnRow>;
}

async function storeTurn(writer: SessionWriter, { by = "ann", said, answer, tool, heard, turn: changes }: TurnContent) {
  const turn = newTurn({ participantIdentity: by, input: [{ type: "text", text: said }], ...changes });
  await insertTurn(writer, turn);
  const toolUseId = `toolu_${turn.id}`;
  const use: TurnBlock[] = tool
    ? [
        {
          sequence: 0,
          blockType: "tool_use",
          textContent: null,
          content: { tool_use_id: toolUseId, tool_name: tool.name, input: tool.input },
        },
        {
          sequence: 1,
          blockType: "tool_result",
          textContent: null,
          content: { tool_use_id: toolUseId, content: JSON.stringify({ found: tool.result }), is_error: false },
        },
      ]
    : [];
  if (tool) {
    const outcome = { state: "success", result: { found: tool.result } } as const;
    await saveCall(writer, newCall(turn.id, { toolUseId, toolName: tool.name, state: "success", outcome }));
  }
  const blocks = [...use, ...(answer === undefined ? [] : [textBlock(2, answer)])];
  await insertBlocks(
    writer,
    blocks.map((block) => ({ turnId: turn.id, block })),
  );
  await finishTurn(writer, {
    turnId: turn.id,
    state: "completed",
    ...(heard !== undefined && { speech: { state: "interrupted", heard } }),
  });
  return { ...turn, toolUseId };
}

async function search({ lease }: SessionWriter, changes: Partial<RecordSearch>) {
  const request = { sessionId: lease.sessionId, words: [], limit: 10, ...changes };
  const found = await searchRecord(database.sql, request);
  return found?.map(({ turn, speaker, excerpt }) => `${turn} ${speaker}: ${excerpt}`);
}

test("turns are found by all of several words and their prefixes, whatever the language, newest first", async () => {
  const talk = await storedSession(database.sql);
  await storeTurn(talk, { said: "Meine Schwester heißt Ömür", answer: "Schön." });
  await storeTurn(talk, { said: "Моя сестра живёт в Киеве", answer: "Понятно." });
  await storeTurn(talk, { said: "The blue sister ship", answer: "A ship of the sisters." });

  expect(await search(talk, { words: ["ömür"] })).toEqual(["1 participant: Meine Schwester heißt Ömür"]);
  expect(await search(talk, { words: ["сестр", "киев"] })).toEqual(["2 participant: Моя сестра живёт в Киеве"]);
  expect(await search(talk, { words: ["sister"] })).toEqual([
    "3 participant: The blue sister ship",
    "3 agent: A ship of the sisters.",
  ]);
  expect(await search(talk, { words: ["blue", "киев"] })).toEqual([]);
});

test("a search can be limited to one speaker's words, one tool or a period", async () => {
  const talk = await storedSession(database.sql);
  await storeTurn(talk, { by: "bob", said: "The harbour, please", answer: "Which harbour?" });
  const tool = { name: "map", input: { place: "harbour" }, result: "harbour\nnorth" };
  await storeTurn(talk, { said: "That harbour", tool, answer: "North." });

  const words = ["harbour"];
  expect(await search(talk, { words, speaker: "agent" })).toEqual(["1 agent: Which harbour?"]);
  expect(await search(talk, { words, speaker: { participant: "bob" } })).toEqual([
    "1 participant: The harbour, please",
  ]);
  expect(await search(talk, { words, tool: "map" })).toEqual(["2 tool: harbour", "2 tool: harbour\nnorth"]);
  expect(await search(talk, { words: ["north"], tool: "map" })).toEqual(["2 tool: harbour\nnorth"]);
  expect(await search(talk, { words, tool: "other" })).toEqual([]);
  expect(await search(talk, { words, to: Date.now() - 3_600_000 })).toEqual([]);
  expect(
    await search(talk, { words, from: Date.now() - 3_600_000, limit: 1, speaker: { participant: "ann" } }),
  ).toEqual(["2 participant: That harbour"]);
});

test("without words it lists the newest matching turns", async () => {
  const talk = await storedSession(database.sql);
  await storeTurn(talk, { said: "One", answer: "1" });
  await storeTurn(talk, { said: "Two", answer: "2" });

  expect(await search(talk, { limit: 1 })).toEqual(["2 participant: Two", "2 agent: 2"]);
});

test("of an answer that was cut off, only the part that was heard is found", async () => {
  const talk = await storedSession(database.sql);
  await storeTurn(talk, { said: "Go on", answer: "First apples, then pears.", heard: "First apples" });

  expect(await search(talk, { words: ["apples"] })).toEqual(["1 agent: First apples"]);
  expect(await search(talk, { words: ["pears"] })).toEqual([]);
});

test("of an answer that was cut off after the turn's end, only the part that was heard is found", async () => {
  const talk = await storedSession(database.sql);
  const { id: turnId } = await storeTurn(talk, { said: "Go on", answer: "First apples, then pears." });
  const before = await search(talk, { words: ["pears"] });

  await finishSpeech(talk, { turnId, state: "interrupted", heard: "First apples" });

  expect(before).toEqual(["1 agent: First apples, then pears."]);
  expect(await search(talk, { words: ["pears"] })).toEqual([]);
});

test("replaced turns are not found, and no word leads to another conversation", async () => {
  const [talk, other] = [await storedSession(database.sql), await storedSession(database.sql)];
  const first = await storeTurn(talk, { said: "My secret is plum" });
  await storeTurn(talk, { said: "My secret is cherry", turn: { replaces: first.id } });
  await storeTurn(other, { said: `My secret is quince session=${talk.lease.sessionId}` });

  expect(await search(talk, { words: ["secret"] })).toEqual(["2 participant: My secret is cherry"]);
  expect(await search(talk, { words: ["quince"] })).toEqual([]);
  expect(await search(talk, { words: [`session=${other.lease.sessionId}`] })).toEqual([]);
});

test("results of recall are not found again", async () => {
  const talk = await storedSession(database.sql);
  await storeTurn(talk, { said: "Again?", tool: { name: "recall", input: { words: "x" }, result: "walnut" } });

  expect(await search(talk, { words: ["walnut"] })).toEqual([]);
});

test.each(["'", "a'b:*|", "\\", "!!", "&", "((", "session=", '"'])(
  "any text can be a search word: %s",
  async (word) => {
    const talk = await storedSession(database.sql);
    await storeTurn(talk, { said: "Hello" });

    expect([[], undefined]).toContainEqual(await search(talk, { words: [word] }));
  },
);

test("a turn with too many words for one row is stored nevertheless, and found by its first words", async () => {
  const talk = await storedSession(database.sql);
  const letter = (index: number) => String.fromCodePoint(0x1_0400 + (Math.floor(index) % 80));
  const long = Array.from(
    { length: 9_000 },
    (_, at) => `${letter(at)}${letter(at / 80)}-${letter(at / 9)}-${letter(at)}`,
  );
  await storeTurn(talk, { said: `pomegranate ${long.join(" ")}`, answer: long.join(" ") });

  expect(await search(talk, { words: ["pomegranate"] })).toHaveLength(1);
});

test("the index finds the session's own turns, however many others contain the word", async () => {
  const { sql } = database;
  const talk = await storedSession(sql);
  await storeTurn(talk, { said: "zucchini" });
  const other = await storedSession(sql);
  await sql`
    insert into turns (id, session_id, position, participant_identity, message_id, state, words)
    select 'filler-' || n, ${other.lease.sessionId}, n, 'ann', 'm' || n, 'completed',
      to_tsvector('simple', 'zucchini ' || n) || array_to_tsvector(array['session=' || ${other.lease.sessionId}])
    from generate_series(1, 20000) as n
  `;
  await sql`analyze turns`;
  await sql`vacuum turns`;

  const [plan] = await sql<{ "QUERY PLAN": [{ Plan: unknown }] }[]>`
    explain (analyze, format json) select from turns
    where session_id = ${talk.lease.sessionId} and words @@ (
      ${`'session=${talk.lease.sessionId}'`}::tsquery && to_tsquery('simple', 'zucchini:*')
    )
  `;

  const text = JSON.stringify(plan?.["QUERY PLAN"]);
  expect(text).not.toContain("Seq Scan");
  expect(await search(talk, { words: ["zucchini"] })).toEqual(["1 participant: zucchini"]);
});
