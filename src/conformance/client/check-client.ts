import { runSuites, type Verdict } from "../run/run-suites.ts";
import { judgeWriting } from "../run/written-rules.ts";
import { clientSuites, type ClientUnderTest } from "./client-suites.ts";
import type { ClientTalk } from "./client-talk.ts";
import { CLIENT_RULES } from "./written-rules.ts";

/** Runs every check of a client. */
export async function checkClient(client: ClientUnderTest): Promise<Verdict[]> {
  const talks: ClientTalk[] = [];
  const verdicts = await runSuites(clientSuites(client, (talk) => talks.push(talk)));
  const recordings = talks.map(({ frames, joins }) => ({ frames: frames.items, joins }));
  return [...verdicts, ...(await judgeWriting(CLIENT_RULES, recordings))];
}
