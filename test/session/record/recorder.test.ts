import { expect, test } from "vitest";
import { success } from "../../../src/tool/outcome.ts";
import { createId } from "../../../src/lib/id.ts";
import { Recorder } from "../../../src/session/record/recorder.ts";
import { callOf } from "../../support/call.ts";
import { FollowedTalk } from "../../support/doubles/followed-talk.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

test("answers that came too late are on record also when the session closes while they wait to be stored", async () => {
  await using database = await tempDatabase();
  const { sql } = database;
  const talk = await FollowedTalk.begin(sql);
  const { id: turnId } = await talk.say("Hello.");
  const lease = { sessionId: talk.id, epoch: 1 };
  const recorder = new Recorder(
    { writer: { sql, lease }, untilOwned: async () => {}, lose: () => {} },
    { onLost: () => {} },
  );
  const callId = createId();
  recorder.onOpened(callOf({ id: callId, turnId }));
  recorder.onSettled(callOf({ id: callId, turnId, state: "success", outcome: success({}), revision: 2 }));
  await recorder.durable();

  for (const from of ["ann", "bob", "carol"]) recorder.onExtraAnswer(callId, { kind: "late", from, success: true });
  await recorder.close();

  const [row] = await sql<{ extra_answers: { from: string }[] }[]>`
    select extra_answers from tool_calls where id = ${callId}
  `;
  expect(row?.extra_answers.map(({ from }) => from)).toEqual(["ann", "bob", "carol"]);
});
