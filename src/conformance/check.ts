/** How binding a sentence of the protocol is. */
export type Level = "MUST" | "SHOULD";

/** One thing that a client or a worker does, for one sentence of the protocol. */
export interface Check<Subject> {
  /** Part and thing, as `cancel.aborts`: reports and files of expected failures name it so. */
  readonly id: string;
  readonly level: Level;
  /** Word for word from docs/protocol.md, where a line break counts as a space. */
  readonly sentence: string;
  /** @throws {SubjectFault} when it does not hold, {NotApplicable} when it cannot be asked of this subject */
  readonly run: (subject: Subject) => Promise<void> | void;
}

/** Checks that share one conversation, in this order. After a failure the next check gets a new one. */
export interface Suite<Subject extends AsyncDisposable> {
  readonly name: string;
  readonly open: () => Promise<Subject>;
  readonly checks: readonly Check<Subject>[];
}

/** What is checked does not do what the sentence says. Its text says what was seen instead. */
export class SubjectFault extends Error {}

/** The check is about something that the subject does not offer, such as a feature. */
export class NotApplicable extends Error {}

/** The kit itself broke the protocol, or could not do what it wanted: the subject is not to blame. */
export class KitFault extends Error {}

/** @throws {SubjectFault} */
export function ensure(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new SubjectFault(otherwise);
}

/** Makes a check: what it is first, what it does last. */
export function check<Subject>(
  id: string,
  [level, sentence]: readonly [Level, string],
  run: Check<Subject>["run"],
): Check<Subject> {
  return { id, level, sentence, run };
}
