/** What a call would do: the kind of thing, and the glob of what it would touch. */
export interface Deed {
  readonly type: string;
  readonly pattern: string;
}

export type Action = "allow" | "ask" | "deny";

/** A rule of the config. `type` and `pattern` are globs. */
export interface PermissionRule extends Deed {
  readonly action: Action;
}
