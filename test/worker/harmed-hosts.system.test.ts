import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createId } from "../../src/lib/id.ts";
import type { RecordedRequest } from "../../src/model-server/model-server.ts";
import { reply, type Step, text, toolUse } from "../../src/model-server/step.ts";
import type { Participant } from "../support/participant.ts";
import { jobProcesses } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

/** An answer that takes about 4 s: it is in progress while the host is harmed, and the next host resumes it. */
const LONG = "One two. Three four. Five six. Seven eight. Nine ten. The end.";
/** How soon LiveKit itself may notice that an agent has gone. It requests another agent after 15 to 20 s. */
const LIVEKIT_NOTICES_MS = 15_000;

const configurations = (user: Participant) => user.all("configuration").length;

/** Whether the process exists. An exited process exists until its parent has collected it. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * Uses the tool if the last message says how it should harm the host. Replies at length to any other message, and to
 * the tool's result.
 */
function answer({ body }: RecordedRequest): Step {
  const messages = body["messages"] as readonly { readonly content: unknown }[];
  const last = JSON.stringify(messages.at(-1));
  const how = /stalls|grows|throws/u.exec(last)?.[0];
  if (how !== undefined && !last.includes("tool_result")) return reply([toolUse("harm", { how })]);
  return reply([text(LONG)], { slow: 130, chunking: 2 });
}

test.each(["stalls", "grows", "throws"])(
  "no session is lost when a tool %s: the others continue in another host before LiveKit notices, with the answers in progress",
  async (how) => {
    await using parts = await WorkerParts.start();
    parts.model.script(answer);
    const { pid } = await parts.run({ env: { PARLEY_CONFIG: "test/fixtures/harm/parley.config.ts" } });
    const users = await Promise.all(
      ["harming", "neighbor", "other"].map((name) => parts.join(`room-${createId()}`, name)),
    );
    for (const user of users) await user.until(() => configurations(user) === 1, "the worker", 20_000);
    await Promise.all(users.map((user) => user.configure({})));
    // The second Configuration is the worker's response to the client's own.
    for (const user of users) await user.until(() => configurations(user) === 2, "the worker's answer");
    const [harming, ...others] = users as [Participant, ...Participant[]];
    // Waits for the reserve host: without it, the next host would have to be started first.
    await vi.waitUntil(() => jobProcesses(pid).length === 2, { timeout: 20_000 });
    const before = jobProcesses(pid);
    const questions = await Promise.all(others.map((user) => user.say("Go on")));
    await Promise.all(others.map((user) => user.next("assistant_sentence")));

    await harming.say(how);
    while (before.every(isThere)) await sleep(20);
    const lostAt = performance.now();
    await Promise.all(others.map((user) => user.until(() => configurations(user) > 2, "the next agent", 20_000)));
    const elsewhereMs = performance.now() - lostAt;

    expect(elsewhereMs).toBeLessThan(LIVEKIT_NOTICES_MS);
    await Promise.all(others.map((user) => user.configure({})));
    for (const [index, user] of others.entries())
      expect(await user.answerTo(questions[index] ?? "", 20_000)).toContain("The end.");
    await harming.until(() => configurations(harming) > 2, "the next agent", 20_000);
    await harming.configure({});
    for (const user of users) expect(await user.answerTo(await user.say("Still there?"), 20_000)).toBe(LONG);
    expect(users.flatMap((user) => user.all("error_message"))).toEqual([]);
    expect(parts.model.rejections).toEqual([]);
  },
  90_000,
);
