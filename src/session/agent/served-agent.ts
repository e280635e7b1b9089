import type { AgentSettings } from "../../agent/agent-fields.ts";
import type { Hooks } from "../../agent/hooks.ts";
import type { CountTokens, OpenStream } from "../model/open-stream.ts";

/** An agent with its model, ready to serve sessions. */
export interface ServedAgent extends Omit<AgentSettings, "model" | "tools" | "names" | keyof Hooks> {
  readonly name: string;
  /** The names by which a message can address this agent. */
  readonly names: readonly string[];
  readonly model: string;
  readonly openStream: OpenStream;
  /** Absent if the API cannot count tokens. */
  readonly countTokens?: CountTokens | undefined;
  /** The size in bytes of Anthropic's own tools, which are in every request. */
  readonly serverToolBytes: number;
  readonly mayUse: (toolName: string) => boolean;
}
