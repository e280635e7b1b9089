import { z } from "zod";
import type { AgentSettings } from "../../agent/agent-fields.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { toServerTool, type ServerTool } from "../../tool/server-tool.ts";
import { CALL_RULE } from "./call-tools.ts";

export interface HandOffPorts {
  /** Stores the session's new agent and switches to it. @throws {AppError} when storing fails */
  readonly switchAgent: (agent: string) => Promise<void>;
  /** Replaces all finished turns in the context window with this summary. */
  readonly replaceWithSummary: (summary: string) => void;
}

/** Returns the `hand_off` tool of an agent, or `undefined` if the agent lists no handoffs. */
export function createHandOffTool(
  { handoffs }: Pick<AgentSettings, "handoffs">,
  ports: HandOffPorts,
): ServerTool | undefined {
  const names = Object.keys(handoffs);
  if (names.length === 0) return undefined;
  const when = names.map((name) => `${name}: ${handoffs[name]?.when}`).join("\n");
  const isSummarized = Object.values(handoffs).some(({ history }) => history === "summary");
  const tool = defineTool({
    description:
      "Hands this talk over to another agent, which continues with it at once, in the same answer. Say nothing after it. " +
      `The agents, and when to use them:\n${when}`,
    input: z.strictObject({
      to: z.enum(names),
      summary: z
        .string()
        .min(1)
        .max(4_000)
        .describe(
          isSummarized
            ? "What the other agent must know: who the participant is, what was said, promised and asked for"
            : "In one or two sentences, what the participant wants",
        ),
    }),
    permission: {
      type: CALL_RULE.type,
      pattern: ({ to }) => `hand off ${to}`,
      title: ({ to }) => `Hand over to ${to}`,
    },
    run: async ({ to, summary }) => {
      await ports.switchAgent(to);
      if (handoffs[to]?.history === "summary") ports.replaceWithSummary(summary);
      return { agent: to, note: "You are this agent now. Go on with the talk." };
    },
  });
  return toServerTool("hand_off", tool, undefined);
}
