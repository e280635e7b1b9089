import { expect, test } from "vitest";
import { WordedQuestions } from "../../../src/session/permission/worded-questions.ts";
import { ParticipantState } from "../../../src/session/participants/participant-state.ts";
import type { PermissionRecord } from "../../../src/store/permissions/load-permissions.ts";
import type { Delivery } from "../../../src/tool/calls/call-ports.ts";

const { signal } = new AbortController();
const RECORD = { id: "p", participantIdentity: "user", title: "Write it", metadata: {} } as unknown as PermissionRecord;

/**
 * Asks a question, which is then heard, shown or neither (`said`). Returns the id of the question that a yes answers,
 * if any.
 */
async function answeredBy(said: Delivery, { isSip = false }: { isSip?: boolean } = {}): Promise<string | undefined> {
  const participantState = new ParticipantState({ identity: "user", sid: "PA_1", isSip });
  const questions = new WordedQuestions({ participants: { get: () => participantState }, byVoice: true });
  const question = { record: RECORD, voiceApproval: true, cut: signal };
  await questions.ask(question, { signal, aside: () => Promise.resolve(said) });
  return questions.take(participantState, "Yes", isSip ? "voice" : "text")?.permissionId;
}

test.each(["heard", "shown"] as const)("a question that was %s accepts a yes", async (said) => {
  expect(await answeredBy(said)).toBe("p");
});

test("a question that was neither heard nor shown accepts none", async () => {
  expect(await answeredBy("unsaid")).toBeUndefined();
});

test("for a telephone caller, the question must have been heard", async () => {
  expect(await answeredBy("shown", { isSip: true })).toBeUndefined();
  expect(await answeredBy("heard", { isSip: true })).toBe("p");
});

const leave = (participantState: ParticipantState): void => {
  participantState.isPresent = false;
};
const joinAgain = (participantState: ParticipantState): void => {
  participantState.join({ identity: "user", sid: "PA_2", isSip: false });
};

test.each([
  ["was away", leave, "before"],
  ["left meanwhile", leave, "meanwhile"],
  ["joined again meanwhile", joinAgain, "meanwhile"],
  ["has joined again since", joinAgain, "since"],
] as const)("a question whose approver %s accepts no yes, and is repeated", async (_, change, when) => {
  const participantState: ParticipantState = new ParticipantState({ identity: "user", sid: "PA_1", isSip: false });
  const questions = new WordedQuestions({ participants: { get: () => participantState }, byVoice: true });
  const said: string[] = [];
  const aside = (words: string): Promise<Delivery> => {
    said.push(words);
    if (when === "meanwhile" && said.length === 1) change(participantState);
    return Promise.resolve("shown");
  };
  if (when === "before") change(participantState);
  await questions.ask({ record: RECORD, voiceApproval: true, cut: signal }, { signal, aside });
  if (when === "since") change(participantState);

  expect(questions.openQuestionId("user")).toBeUndefined();
  expect(questions.take(participantState, "Yes", "text")).toBeUndefined();
  participantState.join({ identity: "user", sid: "PA_3", isSip: false });
  said.length = 0;
  await questions.sayAgain("user", { signal, aside });
  expect(said).toEqual(["Write it. Yes or no?"]);
});
