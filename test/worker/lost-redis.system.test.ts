import { expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text } from "../../src/model-server/step.ts";
import type { Participant } from "../support/participant.ts";
import { startRedis } from "../support/servers/redis.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { jobProcesses } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

/**
 * How many Configurations the participant has received: one from each agent, and one in response to each of its own.
 */
const configurations = (user: Participant) => user.all("configuration").length;

/** A session on a LiveKit server whose Redis has just lost all data: LiveKit no longer lists who is in the room. */
async function startTalk(cleanup: AsyncDisposableStack) {
  const { path: folder } = cleanup.use(await tempFolder());
  const redis = await startRedis(folder);
  cleanup.defer(() => redis.close());
  const parts = cleanup.use(await WorkerParts.start({ redisAddress: redis.address }));
  parts.model.script(() => reply([text("Here.")]));
  let workers = 0;
  const runWorker = () => parts.run({ env: { PARLEY_DATA_DIR: `${parts.folder}/worker-${++workers}` } });
  const worker = await runWorker();
  const room = `room-${createId()}`;
  const user = await parts.join(room, "user");
  const answers = async (seen: number) => {
    await user.until(() => configurations(user) > seen, "an agent", 40_000);
    await user.configure({});
    return user.answerTo(await user.say("Are you there?"), 20_000);
  };
  expect(await answers(0)).toBe("Here.");
  await redis.lose();
  // LiveKit lists a participant again only when the participant changes, as the agent does. The user stays unlisted.
  expect((await parts.rooms.listParticipants(room)).map(({ identity }) => identity)).not.toContain("user");
  const ends = () => parts.database.sql`select end_reason from session_rooms where ended_at is not null`;
  return { worker, runWorker, user, answers, ends };
}

test("a session continues with the next worker after LiveKit lost its Redis and the worker was killed", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { worker, runWorker, user, answers, ends } = await startTalk(cleanup);
  const seen = configurations(user);

  for (const pid of [worker.pid, ...jobProcesses(worker.pid)]) process.kill(pid, "SIGKILL");
  await worker.ended;
  await runWorker();

  expect(await answers(seen)).toBe("Here.");
  expect(await ends()).toEqual([]);
}, 120_000);

test("a session whose LiveKit lost its Redis survives the end of its host, and a restart of its worker", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { worker, runWorker, user, answers, ends } = await startTalk(cleanup);

  const beforeKill = configurations(user);
  for (const pid of jobProcesses(worker.pid)) process.kill(pid, "SIGKILL");
  expect(await answers(beforeKill)).toBe("Here.");

  const beforeRestart = configurations(user);
  worker.kill("SIGTERM");
  await worker.ended;
  await runWorker();
  expect(await answers(beforeRestart)).toBe("Here.");
  expect(await ends()).toEqual([]);
}, 120_000);
