import { z } from "zod";
import type { AgentSession } from "./agent-session.ts";
import { hookFields } from "./hooks.ts";
import { agentModelSchema } from "./model-fields.ts";
import { speechPluginFields } from "./plugins/speech-plugins.ts";
import { thinkingSchema } from "./thinking.ts";
import { turnHookFields } from "./turn-hooks.ts";

/** Instructions: a string, or a function that returns them for a session. */
export type Instructions = string | ((session: AgentSession) => string | Promise<string>);

const isFunction = (value: unknown) => typeof value === "function";

/** `{a,b}` is rejected: rule patterns do not support alternatives, so such a deny rule would match nothing. */
const rulePattern = z
  .string()
  .min(1)
  .refine(
    (text) => !/(?<!\\)\{[^}]*,[^}]*\}/u.test(text),
    "{a,b} is not supported: write a rule for each alternative, or escape it as \\{a,b}",
  );

/**
 * Permission rules, whose `type` and `pattern` are globs. A matching deny rule wins; otherwise the last matching rule
 * applies. If no rule matches, the participant is asked.
 */
export const rulesSchema = z.array(
  z.strictObject({ type: rulePattern, pattern: rulePattern, action: z.enum(["allow", "ask", "deny"]) }),
);

/** Whether participants can interrupt what the agent says. @defaultValue true */
const interruptible = z.boolean().exactOptional();

/** What the agent does after a silence. The silence is measured from the last words or from the previous step. */
const idleStep = z.union(
  [
    z.strictObject({ afterMs: z.number().int().min(500).max(3_600_000), say: z.string().min(1), interruptible }),
    z.strictObject({
      afterMs: z.number().int().min(500).max(3_600_000),
      interruptible,
      /** Closes the room for everyone. A string is spoken or shown first. */
      end: z.union([z.literal(true), z.string().min(1)]),
    }),
  ],
  "expected {afterMs: 500 or more, say: string} or {afterMs: 500 or more, end: true or string}",
);
export type IdleStep = z.output<typeof idleStep>;

const LANGUAGE = /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/;

/** Tools for ending, transferring or controlling the call. Each is off unless it is listed. */
const callToolsSchema = z.strictObject({
  end_call: z.literal(true).exactOptional(),
  /**
   * Targets to which a phone call can be transferred, keyed by the name the model sees: `{sales: "tel:+4930123456"}`.
   */
  transfer_call: z
    .record(
      z.string().regex(/^[\w-]{1,40}$/, "expected a name of letters, digits, _ and -"),
      z.string().regex(/^(?:tel|sips?):\S+$/, "expected tel:+4930123456 or sip:sales@example.com"),
    )
    .refine((targets) => Object.keys(targets).length > 0, "expected at least one target")
    .exactOptional(),
  press_keys: z.literal(true).exactOptional(),
  skip_turn: z.literal(true).exactOptional(),
  /** The languages that can be chosen, as BCP 47 tags. */
  set_language: z.array(z.string().regex(LANGUAGE, "expected a language such as en-GB")).min(1).exactOptional(),
});

const handoffSchema = z.strictObject({
  /** Tells the model when to hand off to this agent. */
  when: z.string().min(1),
  /**
   * How much of the conversation the other agent sees: the whole context window, or only a summary that this agent
   * writes.
   */
  history: z.enum(["whole", "summary"]).default("whole"),
});

export const CALL_TOOLS: readonly string[] = Object.keys(callToolsSchema.shape);

/** Built-in tools that parley.config.ts enables. Every agent can use them, even if its `tools` does not list them. */
export const BUILT_IN_TOOLS: readonly string[] = ["recall", "remember", "forget"];

/** The settings of an agent. The agent of parley.config.ts has the same fields. */
export const agentFields = {
  /** The model's system prompt, or a function that returns the prompt for a session (docs/agents.md). */
  instructions: z.union(
    [z.string().min(1), z.custom<Exclude<Instructions, string>>(isFunction)],
    "expected a string or a function",
  ),
  /** Globs for the names of the server tools that the agent may use: `billing_*`. @defaultValue all */
  tools: z.array(z.string().min(1)).exactOptional(),
  /**
   * Greets a participant who joins: a fixed string, or a prompt for the model. @defaultValue the participant speaks
   * first
   */
  greeting: z
    .union(
      [
        z.string().min(1),
        z.strictObject({ say: z.string().min(1), interruptible }),
        z.strictObject({ ask: z.string().min(1), interruptible }),
      ],
      "expected a string, {say: string} or {ask: string}",
    )
    .exactOptional(),
  /** What the agent does while nobody speaks, in order. */
  idle: z.array(idleStep).default([]),
  /** `mentioned`: in a room with several participants, the agent answers only messages that mention it. */
  replyTo: z.enum(["all", "mentioned"]).default("all"),
  /**
   * The names by which a message can mention the agent. @defaultValue the agent's own name, or Parley for the agent of
   * parley.config.ts
   */
  names: z
    .array(z.string().regex(/[\p{L}\p{N}]/u, "expected a name"))
    .min(1)
    .exactOptional(),
  /** One sentence for people that says what the agent does. Clients show it before anything has been said. */
  description: z.string().min(1).max(300).exactOptional(),
  /** What people can say first. Clients offer these sentences as buttons. */
  suggestions: z.array(z.string().min(1).max(120)).max(6).exactOptional(),
  /** Whether the model is shown who joined and left since the last message. */
  presence: z.boolean().default(false),
  callTools: callToolsSchema.default({}),
  /** The agents that this agent may hand off to, by name. */
  handoffs: z.record(z.string(), handoffSchema).default({}),
  /** An agent's own hook replaces the one in parley.config.ts (docs/hooks.md). */
  ...hookFields,
  ...turnHookFields,
};

/** An agent in the folder `agents/`: the fields above, plus its overrides of settings in parley.config.ts. */
export const agentSchema = z.strictObject({
  ...agentFields,
  /** Overrides of `model` in parley.config.ts. A list replaces the list there. */
  model: agentModelSchema.prefault({}),
  voice: z
    .strictObject({
      /** The provider's name of the agent's voice. Overrides TTS_VOICE. */
      name: z.string().min(1).exactOptional(),
      ...speechPluginFields,
      /** Overrides `voice.thinking`. */
      thinking: thinkingSchema.exactOptional(),
    })
    .default({}),
  permission: z
    .strictObject({
      /** Appended to the rules in parley.config.ts, so they override all of those except deny rules. */
      rules: rulesSchema.default([]),
    })
    .prefault({}),
});

export type AgentSettings = z.output<typeof agentSchema>;
