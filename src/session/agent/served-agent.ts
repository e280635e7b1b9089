import type { AgentSettings } from "../../agent/agent-fields.ts";
import type { Hooks } from "../../agent/hooks.ts";
import type { CountTokens, OpenStream } from "../model/open-stream.ts";

/** An agent with its model, ready to serve sessions. */
export interface ServedAgent extends Omit<AgentSettings, "model" | "tools" | "names" | keyof Hooks> {
  readonly name: string;
  /** The names by which a message can mention it. */
  readonly names: readonly string[];
  readonly model: string;
  readonly openStream: OpenStream;
  /** Absent: the API cannot count. */
  readonly countTokens?: CountTokens | undefined;
  /** The size of Anthropic's own tools, which are in every request. */
  readonly serverToolBytes: number;
  /** Whether it may use a server tool of this name. */
  readonly mayUse: (toolName: string) => boolean;
}
