import type { z } from "zod";
import type { agentSchema } from "./agent-fields.ts";

const AGENT = Symbol.for("parley.agent");

/** The fields of an agent; each but `instructions` has a default. */
export type AgentDefinition = z.input<typeof agentSchema>;

/** An agent as `agents/*.ts` exports it; `load-agents.ts` gives it its name. */
export type Agent = AgentDefinition & { readonly [AGENT]: true };

/**
 * Declares an agent. The default export of a file in `agents/` must be one; the file's name is the agent's name. It is
 * checked when it is loaded, where an error can name the file.
 *
 * @example
 * export default defineAgent({
 *   instructions: ({ participants }) => `You help ${participants.map(({ name }) => name).join(" and ")} with invoices.`,
 *   tools: ["billing_*", "get_time"],
 * });
 */
export function defineAgent(definition: AgentDefinition): Agent {
  return { ...definition, [AGENT]: true };
}

export function isAgent(value: unknown): value is Agent {
  return typeof value === "object" && value !== null && AGENT in value;
}
