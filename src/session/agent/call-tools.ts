import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { AgentSettings } from "../../agent/agent-fields.ts";
import { defineTool, type Tool } from "../../tool/define-tool.ts";
import { toServerTool, type ServerTool } from "../../tool/server-tool.ts";
import type { CallEnd, CallLine } from "./call-end.ts";

/**
 * The rule that allows the tools below by default: an agent may use each tool that it enables, unless another `call`
 * rule applies.
 */
export const CALL_RULE = { type: "call", pattern: "*", action: "allow" } as const;

export interface CallToolPorts {
  readonly line: CallLine;
  readonly end: Pick<CallEnd, "afterTurn">;
  readonly setLanguage: (identity: string, language: string) => Promise<void>;
}

const BETWEEN_KEYS_MS = 200;
const PAUSE_MS = 1_000;

/** Returns the tools that the agent's settings enable for ending, transferring or controlling the call. */
export function callTools({ callTools: on }: Pick<AgentSettings, "callTools">, ports: CallToolPorts): ServerTool[] {
  const { transfer_call: targets, set_language: languages } = on;
  return [
    ...(on.end_call
      ? [ending("end_call", endCall, (participant) => ports.end.afterTurn({ participant, isForAll: false }))]
      : []),
    ...(targets ? [toServerTool("transfer_call", transferCall(targets, ports), undefined)] : []),
    ...(on.press_keys ? [toServerTool("press_keys", pressKeys(ports), undefined)] : []),
    ...(on.skip_turn ? [ending("skip_turn", skipTurn, () => {})] : []),
    ...(languages ? [toServerTool("set_language", setLanguage(languages, ports), undefined)] : []),
  ];
}

function ending(name: string, tool: Tool, endTurn: (participant: string) => void): ServerTool {
  return { ...toServerTool(name, tool, undefined), endTurn };
}

const endCall = defineTool({
  description:
    "Ends the call of this participant once your words have been heard. Say goodbye in the same message, before you " +
    "use it: you cannot say anything afterwards.",
  input: z.strictObject({}),
  permission: { type: CALL_RULE.type, pattern: () => "end", title: () => "End the call" },
  idempotent: true,
  run: () => ({ ends: "when these words have been heard" }),
});

const skipTurn = defineTool({
  description:
    "Says nothing and continues listening. Use it when the participant wants you to wait, speaks to somebody else, or " +
    "has not finished.",
  input: z.strictObject({}),
  permission: { type: CALL_RULE.type, pattern: () => "skip", title: () => "Say nothing" },
  idempotent: true,
  run: () => ({ silent: true }),
});

function transferCall(targets: Readonly<Record<string, string>>, { line }: CallToolPorts): Tool {
  return defineTool({
    description: "Transfers this participant, who calls by telephone, to somebody else. Tell the participant before.",
    input: z.strictObject({ to: z.enum(Object.keys(targets)) }),
    permission: {
      type: CALL_RULE.type,
      pattern: ({ to }) => `transfer ${to}`,
      title: ({ to }) => `Transfer the call to ${to}`,
    },
    startWhen: "words_spoken",
    timeoutMs: 60_000,
    run: async ({ to }, { participant }) => {
      if (!line.isOnPhone(participant))
        throw new Error("This participant is not on the phone, so there is no call to transfer");
      try {
        await line.transfer(participant, targets[to] ?? "");
      } catch (cause) {
        throw new Error("The call could not be transferred; the participant is still here", { cause });
      }
      return { transferred: to };
    },
  });
}

function pressKeys({ line }: CallToolPorts): Tool {
  return defineTool({
    description: "Presses keys of a telephone, for the menu of whoever is called. A w is a pause of a second.",
    input: z.strictObject({ keys: z.string().regex(/^[\d*#A-Dw]{1,32}$/, "expected keys such as 1234#") }),
    permission: {
      type: CALL_RULE.type,
      pattern: ({ keys }) => `press ${keys}`,
      title: ({ keys }) => `Press ${keys}`,
    },
    startWhen: "words_spoken",
    timeoutMs: 60_000,
    run: async ({ keys }, { signal }) => {
      for (const key of keys) {
        if (key === "w") await sleep(PAUSE_MS, undefined, { signal });
        else {
          await line.press(key);
          await sleep(BETWEEN_KEYS_MS, undefined, { signal });
        }
      }
      return { pressed: keys };
    },
  });
}

function setLanguage(languages: readonly string[], ports: CallToolPorts): Tool {
  return defineTool({
    description:
      "Sets the language in which this participant is spoken to, from the next answer on. Use it when the participant " +
      "speaks another one, or asks for it; answer in that language from now on.",
    input: z.strictObject({ language: z.enum(languages) }),
    permission: {
      type: CALL_RULE.type,
      pattern: ({ language }) => `language ${language}`,
      title: ({ language }) => `Speak ${language}`,
    },
    idempotent: true,
    run: async ({ language }, { participant }) => {
      await ports.setLanguage(participant, language);
      return { language };
    },
  });
}
