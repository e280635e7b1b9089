import PQueue from "p-queue";
import { type Check, KitFault, NotApplicable, SubjectFault, type Suite } from "../check.ts";

export interface Verdict extends Pick<Check<never>, "id" | "level" | "sentence"> {
  readonly suite: string;
  /** `kit`: the kit's own fault, which says nothing about the subject. */
  readonly outcome: "passed" | "failed" | "skipped" | "kit";
  /** Why it has not passed. */
  readonly reason?: string;
  readonly ms: number;
}

type Outcome = Pick<Verdict, "outcome" | "reason">;

/** Rooms at once: most of a check is waiting. */
const SUITES_AT_ONCE = 8;

/** Runs suites beside each other; verdicts come in the suites' order. */
export async function runSuites<Subject extends AsyncDisposable>(
  suites: readonly Suite<Subject>[],
): Promise<Verdict[]> {
  const queue = new PQueue({ concurrency: SUITES_AT_ONCE });
  const verdicts = await Promise.all(suites.map((suite) => queue.add(() => runSuite(suite))));
  return verdicts.flat();
}

async function runSuite<Subject extends AsyncDisposable>(suite: Suite<Subject>): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  let subject: Subject | undefined;
  let unopened: Outcome | undefined;
  for (const { id, level, sentence, run } of suite.checks) {
    const startedAt = performance.now();
    if (!subject && !unopened) {
      const opened = await attempt(async () => {
        subject = await suite.open();
      });
      if (opened.outcome !== "passed") unopened = opened;
    }
    const current = subject;
    const outcome = current ? await attempt(() => run(current)) : (unopened ?? { outcome: "kit" });
    const ms = Math.round(performance.now() - startedAt);
    verdicts.push({ id, level, sentence, suite: suite.name, ...outcome, ms });
    // What a failure has left behind must not fail the next check.
    if (outcome.outcome === "failed" || outcome.outcome === "kit") {
      await current?.[Symbol.asyncDispose]();
      subject = undefined;
    }
  }
  await subject?.[Symbol.asyncDispose]();
  return verdicts;
}

export async function attempt(work: () => Promise<void> | void): Promise<Outcome> {
  try {
    await work();
    return { outcome: "passed" };
  } catch (error) {
    if (error instanceof NotApplicable) return { outcome: "skipped", reason: error.message };
    if (error instanceof SubjectFault) return { outcome: "failed", reason: error.message };
    const reason = error instanceof KitFault ? error.message : String(error);
    return { outcome: "kit", reason };
  }
}
