import { runSuites, type Verdict } from "../run/run-suites.ts";
import { judgeWriting } from "../run/written-rules.ts";
import type { GiveAccess } from "./kit-client.ts";
import { WORKER_RULES, workerSuites } from "./worker-suites.ts";
import type { WorkerTalk } from "./worker-talk.ts";

/** Runs every check of a worker. @param give gives access to its rooms */
export async function checkWorker(give: GiveAccess): Promise<Verdict[]> {
  const talks: WorkerTalk[] = [];
  const verdicts = await runSuites(workerSuites(give, (talk) => talks.push(talk)));
  const recordings = talks.flatMap(({ clients }) =>
    clients.map(({ frames }) => ({ frames: frames.items, joins: [0] })),
  );
  return [...verdicts, ...(await judgeWriting(WORKER_RULES, recordings))];
}
