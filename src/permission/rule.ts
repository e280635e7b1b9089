export type Action = "allow" | "ask" | "deny";

/** A rule of the config. `type` and `pattern` are globs (`matchPattern`). */
export interface PermissionRule {
  readonly type: string;
  readonly pattern: string;
  readonly action: Action;
}

/** What a call would do, as its tool says it. */
export interface Wish {
  readonly type: string;
  /** What it would touch: paths, shell lines or names. They are literal: a `*` in them is a star. */
  readonly values: readonly string[];
  /** Whether two names that differ only in case are the same. @defaultValue false */
  readonly ignoresCase?: boolean;
}

/** One thing that a call would do, in the form that rules are compared with. */
export interface Deed {
  readonly type: string;
  /** Its canonical name. A command's holds UNKNOWN where its words are not known before it runs. */
  readonly value: string;
  /** Of a command: its words, one by one. An allow is compared with these. */
  readonly words?: readonly string[];
  /** Whether values of variables, outputs of commands or sums are put into its line. Then only `*` allows it. */
  readonly isExpanded?: boolean;
  /** Whether rules can only restrict it: what none of them names may be done. */
  readonly isOnlyRestricted?: boolean;
  /** Other names. A deny or an ask matches them too; an allow does not. */
  readonly aliases?: readonly string[];
  /** What it may come to. A deny or an ask that matches one of these leads to a question. */
  readonly maybes?: readonly string[];
  /** Texts that it is given. A deny or an ask that matches a part of one leads to a question. */
  readonly mentions?: readonly string[];
  readonly ignoresCase?: boolean;
}
