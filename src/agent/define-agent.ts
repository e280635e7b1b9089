import type { z } from "zod";
import type { agentSchema } from "./agent-fields.ts";

const AGENT = Symbol.for("parley.agent");

/** The fields of an agent. All except `instructions` have a default. */
export type AgentDefinition = z.input<typeof agentSchema>;

/** An agent, as exported by `agents/*.ts`. `load-agents.ts` names it after its file. */
export type Agent = AgentDefinition & { readonly [AGENT]: true };

/**
 * Declares an agent. Each file in `agents/` must have an agent as its default export, and the agent is named after the
 * file. The fields are checked when the file is loaded, so that errors can name the file.
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
