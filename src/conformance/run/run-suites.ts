import PQueue from "p-queue";
import { type Check, KitFault, NotApplicable, SubjectFault, type Suite } from "../check.ts";

export interface Verdict extends Pick<Check<never>, "id" | "level" | "sentence"> {
  readonly suite: string;
  /** `kit`: the kit itself failed, which proves nothing about the subject. */
  readonly outcome: "passed" | "failed" | "skipped" | "kit";
  /** Why the check did not pass. */
  readonly reason?: string;
  readonly ms: number;
}

type Outcome = Pick<Verdict, "outcome" | "reason">;

/** How many rooms are open at once. Checks spend most of their time waiting. */
const SUITES_AT_ONCE = 8;
/**
 * How long a check may take: twice as long as the longest check waits. Needed because LiveKit's calls have no deadline.
 */
const CHECK_WITHIN_MS = 30_000;
const CLOSE_WITHIN_MS = 5_000;

/** Runs suites in parallel. The verdicts are returned in the order of the suites. */
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
  const runOnce = async ({ id, run }: Check<Subject>): Promise<Outcome> => {
    if (!subject && !unopened) {
      const opened = await attempt(async () => {
        subject = await inTime(suite.open(), `Opening a room for "${suite.name}"`);
      });
      if (opened.outcome !== "passed") unopened = opened;
    }
    const current = subject;
    if (!current) return unopened ?? { outcome: "kit" };
    const outcome = await attempt(() => inTime(run(current), id));
    // The next check gets a new room, so that it cannot fail because of leftovers.
    if (outcome.outcome === "failed" || outcome.outcome === "kit") {
      await close(current);
      subject = undefined;
    }
    return outcome;
  };
  for (const check of suite.checks) {
    const { id, level, sentence } = check;
    const startedAt = performance.now();
    const first = await runOnce(check);
    // A fault of the kit, such as a hanging LiveKit call, proves nothing about the subject, so the check runs once
    // more.
    const outcome = first.outcome === "kit" && !unopened ? await runOnce(check) : first;
    const ms = Math.round(performance.now() - startedAt);
    verdicts.push({ id, level, sentence, suite: suite.name, ...outcome, ms });
  }
  await close(subject);
  return verdicts;
}

/** Closes a room. If that takes too long, abandons the room, because no other check uses it. */
async function close(subject: AsyncDisposable | undefined): Promise<void> {
  const closing = async () => subject?.[Symbol.asyncDispose]();
  await inTime(closing(), "Closing a room", CLOSE_WITHIN_MS).catch(() => {});
}

/**
 * Waits for some work, for at most `withinMs`. Every check gives up waiting for the subject earlier, so if this time is
 * over, only the kit can be at fault.
 *
 * @throws {KitFault} when the time is over
 */
async function inTime<Value>(work: Promise<Value> | Value, what: string, withinMs = CHECK_WITHIN_MS): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const fault = new KitFault(`${what} did not finish within ${withinMs / 1_000} s`);
  const timer = setTimeout(() => reject(fault), withinMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
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
