import type { Check, Suite } from "../check.ts";
import { runSuites, type Verdict } from "../run/run-suites.ts";
import { formRules, judgeWriting, type WrittenRule } from "../run/written-rules.ts";
import { otherClientChecks, workerCallChecks } from "./checks/calls.ts";
import { contentChecks } from "./checks/content.ts";
import { announcingChecks, workerJoiningChecks } from "./checks/joining.ts";
import { messageChecks } from "./checks/messages.ts";
import { floodChecks, refusedMessageChecks } from "./checks/refused-messages.ts";
import { returningChecks } from "./checks/returning.ts";
import type { AccessProvider } from "./kit-client.ts";
import { WorkerTalk, type WorkerTalkOptions } from "./worker-talk.ts";

/**
 * Runs all checks against a worker.
 *
 * @param grantAccess returns a token and URL for one of the worker's rooms
 */
export async function checkWorker(grantAccess: AccessProvider): Promise<Verdict[]> {
  const talks: WorkerTalk[] = [];
  const verdicts = await runSuites(workerSuites(grantAccess, (talk) => talks.push(talk)));
  const recordings = talks.flatMap(({ clients }) =>
    clients.map(({ frames }) => ({ frames: frames.items, joins: [0] })),
  );
  return [...verdicts, ...(await judgeWriting(WORKER_RULES, recordings))];
}

/** Returns all checks for workers. `onTalk` is called for each room that is opened. */
export function workerSuites(grantAccess: AccessProvider, onTalk: (talk: WorkerTalk) => void): Suite<WorkerTalk>[] {
  const suite = (
    name: string,
    checks: readonly Check<WorkerTalk>[],
    options: Omit<WorkerTalkOptions, "grantAccess"> = {},
  ): Suite<WorkerTalk> => ({
    name,
    checks,
    open: async () => {
      const talk = await WorkerTalk.open({ grantAccess, ...options });
      onTalk(talk);
      return talk;
    },
  });
  return [
    suite("calls", workerCallChecks),
    suite("coming back", returningChecks),
    suite("messages", messageChecks),
    suite("refused messages", refusedMessageChecks),
    suite("content", contentChecks),
    suite("other clients", otherClientChecks),
    suite("joining", workerJoiningChecks, { configuration: null }),
    suite("announcing", announcingChecks, { hasNamedRoom: false }),
    suite("a flood", floodChecks),
  ];
}

/** Rules for the frames that a worker writes. */
export const WORKER_RULES: readonly WrittenRule[] = [
  ...formRules("MUST"),
  {
    id: "write.stanzas-down",
    level: "MUST",
    sentence: "a client counts 1, 2, 3…, and the worker -1, -2, -3… across all its clients, so you see gaps.",
    find: ({ frames }) => {
      const wrong = frames.find(({ stanzaId }) => stanzaId > 0);
      return wrong && `The worker sent the stanzaId ${wrong.stanzaId}`;
    },
  },
];
