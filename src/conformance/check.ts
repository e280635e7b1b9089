/** How binding a sentence in the protocol is. */
export type Level = "MUST" | "SHOULD";

/** A check of one sentence in the protocol. */
export interface Check<Subject> {
  /** The check's name in reports and in files of expected failures, such as `cancel.aborts`. */
  readonly id: string;
  readonly level: Level;
  /** A verbatim quote from docs/protocol.md, where a line break counts as a space. */
  readonly sentence: string;
  /**
   * @throws {SubjectFault} if the sentence does not hold, {NotApplicable} if the sentence does not apply to this
   * subject
   */
  readonly run: (subject: Subject) => Promise<void> | void;
}

/** Checks that run one after another in the same room. After a failure, the next check gets a new room. */
export interface Suite<Subject extends AsyncDisposable> {
  readonly name: string;
  readonly open: () => Promise<Subject>;
  readonly checks: readonly Check<Subject>[];
}

/**
 * The client or worker under test does not do what the sentence requires. The message describes what it did instead.
 */
export class SubjectFault extends Error {}

/** The check is about something that the subject does not offer, such as a feature. */
export class NotApplicable extends Error {}

/** The kit itself broke the protocol or could not run the check. The subject is not to blame. */
export class KitFault extends Error {}

/** @throws {SubjectFault} with the message `otherwise`, unless `holds` is true */
export function ensure(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new SubjectFault(otherwise);
}

export function check<Subject>(
  id: string,
  [level, sentence]: readonly [Level, string],
  run: Check<Subject>["run"],
): Check<Subject> {
  return { id, level, sentence, run };
}
