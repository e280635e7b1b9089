import { expect, test } from "vitest";
import { WordedQuestions } from "../../../src/session/permission/worded-questions.ts";
import type { Peer } from "../../../src/session/peers/peer.ts";
import type { PermissionRecord } from "../../../src/store/permissions/load-permissions.ts";
import type { Said } from "../../../src/tool/calls/call-ports.ts";

const { signal } = new AbortController();
const RECORD = { id: "p", participantIdentity: "user", title: "Write it", metadata: {} } as unknown as PermissionRecord;

/** What a yes answers, once a question was said in this way. */
async function answeredBy(said: Said, { isSip = false }: { isSip?: boolean } = {}): Promise<string | undefined> {
  const peer = { identity: "user", language: "en", isSip, features: new Set() } as unknown as Peer;
  const questions = new WordedQuestions({ peers: { get: () => peer }, byVoice: true });
  const question = { record: RECORD, voiceApproval: true, cut: signal };
  await questions.ask(question, { signal, aside: () => Promise.resolve(said) });
  return questions.take(peer, "Yes", isSip ? "voice" : "text")?.permissionId;
}

test.each(["heard", "shown"] as const)("a question that was %s takes a yes", async (said) => {
  expect(await answeredBy(said)).toBe("p");
});

test("a question that was neither heard nor shown takes none", async () => {
  expect(await answeredBy("unsaid")).toBeUndefined();
});

test("to a caller by telephone, a question must have been heard", async () => {
  expect(await answeredBy("shown", { isSip: true })).toBeUndefined();
  expect(await answeredBy("heard", { isSip: true })).toBe("p");
});
