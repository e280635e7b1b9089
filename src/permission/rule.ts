export type Action = "allow" | "ask" | "deny";

/** A rule of the config. `type` and `pattern` are globs (`matchPattern`). */
export interface PermissionRule {
  readonly type: string;
  readonly pattern: string;
  readonly action: Action;
}

/** What a call would do, as a tool says it. */
export interface Wish {
  readonly type: string;
  /** What it would touch: a path, a command line, a name. Each is itself; nothing in it stands for anything else. */
  readonly values: readonly string[];
  /** Whether names that differ in upper and lower case are one. @defaultValue false */
  readonly ignoresCase?: boolean;
}

/** One thing that a call would do, as rules are held against it. */
export interface Deed {
  readonly type: string;
  /** Its name. That of a command holds UNKNOWN for what is not known before it runs. */
  readonly value: string;
  /** Names that are denied and asked about like its own, and not allowed like it. */
  readonly aliases?: readonly string[];
  /** What it may come to: where that is denied, it is asked about. */
  readonly maybes?: readonly string[];
  readonly ignoresCase?: boolean;
}
