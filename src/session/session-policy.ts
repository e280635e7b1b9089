import { type StateDetail } from "../conversation/call.ts";
import { type PermissionPolicy } from "./permission/permission-desk.ts";
import { type PhraseTable } from "./answer/phrases.ts";

/** What a session is told to do, from the config. */
export interface SessionPolicy {
  readonly model: string;
  readonly maxSteps: number;
  readonly toolTimeoutMs: number;
  readonly toolResultMaxBytes: number;
  readonly onNewMessage: "queue" | "interrupt";
  readonly permission: PermissionPolicy;
  /** In the place of what the worker says by itself, by language. */
  readonly phrases?: PhraseTable;
  /** What of a tool's calls may be shown, by its name. It wins over what the tool says. */
  readonly toolDetail?: Readonly<Record<string, StateDetail>>;
}
