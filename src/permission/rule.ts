export type Action = "allow" | "ask" | "deny";

/** A permission rule from the config. `type` and `pattern` are globs (`matchPattern`). */
export interface PermissionRule {
  readonly type: string;
  readonly pattern: string;
  readonly action: Action;
}

/** What a call would do, as declared by its tool. */
export interface PermissionInput {
  readonly type: string;
  /**
   * What the call would touch: paths, shell command lines or names. Values are literal, so `*` is not a wildcard here.
   */
  readonly values: readonly string[];
  /** Whether names that differ only in case are the same. @defaultValue false */
  readonly ignoresCase?: boolean;
}

/** One thing that a call would do, in the canonical form that rules are compared with. */
export interface Operation {
  readonly type: string;
  /** The canonical name. In a command, UNKNOWN replaces whatever is not known until it runs. */
  readonly value: string;
  /** A command's words. Allow rules are compared with these. */
  readonly words?: readonly string[];
  /**
   * Whether the shell inserts variables, command output or arithmetic into the line. If so, only `*` or `**` allows the
   * operation.
   */
  readonly isExpanded?: boolean;
  /** Whether rules can only restrict the operation: it is allowed if no rule matches. */
  readonly isOnlyRestricted?: boolean;
  /** Other names for the operation. Deny and ask rules match them too; allow rules do not. */
  readonly aliases?: readonly string[];
  /** Names that might apply once the operation runs. If a deny or ask rule matches one, permission is requested. */
  readonly maybes?: readonly string[];
  /** Texts that the command receives as input. If a deny or ask rule matches part of one, permission is requested. */
  readonly mentions?: readonly string[];
  readonly ignoresCase?: boolean;
}
