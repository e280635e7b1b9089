import { z } from "zod";
import type { ContinueConversation } from "../agent/agent-session.ts";
import { agentFields, rulesSchema } from "../agent/agent-fields.ts";
import { modelSchema } from "../agent/model-fields.ts";
import { representationSchema } from "../telemetry/representation/representation.ts";
import { mcpServersSchema } from "../tool/mcp/mcp-config.ts";
import { voiceSchema } from "../voice/voice-settings.ts";
import { STATE_DETAILS } from "../tool/server-tool.ts";

const positiveInteger = z.number().int().positive();

const phrase = z.string().min(1).exactOptional();
/** Phrases by language. The key is the first part of a language tag, such as `en` of `en-GB`. */
const phrasesSchema = z.record(
  z.string().regex(/^[a-z]{2,3}$/, "expected a language such as en"),
  z.strictObject({
    refused: phrase,
    stopped: phrase,
    tooManySteps: phrase,
    unfinished: phrase,
    failed: phrase,
    notice: phrase,
    budgetLow: phrase,
    budgetSpent: phrase,
    tooMany: phrase,
  }),
);
const limitSchema = z
  .strictObject({ tokens: positiveInteger.exactOptional(), money: z.number().positive().exactOptional() })
  .refine((limit) => Object.keys(limit).length > 0, "expected tokens, money or both");
const amount = z.number().nonnegative();
const permissionSchema = z.strictObject({
  rules: rulesSchema.default([]),
  /** Whether permission questions are also spoken, and can be answered with a short spoken yes or no. */
  byVoice: z.boolean().default(false),
  /** How long a permission request waits for an answer, in ms. Without an answer in that time, the call is rejected. */
  waitMs: positiveInteger.max(600_000).default(120_000),
});

/**
 * The type of the context edit with which the API itself summarizes a conversation. The summary replaces everything
 * before it, including tool announcements.
 */
const COMPACTION = "compact_20260112";
const compacts = ({ type }: { readonly type: string }) => type === COMPACTION;

const editSchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("clear_tool_uses_20250919") }),
  // If the API paused after a compaction, the turn would end without an answer.
  z.looseObject({ type: z.literal(COMPACTION), pause_after_compaction: z.literal(false).exactOptional() }),
]);

const contextSchema = z
  .strictObject({
    /** The maximum number of tokens of past turns in the context window. Beyond it, the oldest turns are dropped. */
    budgetTokens: z.number().int().min(1_000).default(30_000),
    /**
     * The maximum number of tokens in a request. Together with `model.maxTokens`, it must fit the model's context
     * window.
     */
    hardTokens: z.number().int().min(2_000).default(120_000),
    /** The id of a model that summarizes turns before they are dropped. If absent, no summaries are written. */
    summaryModel: z.string().min(1).optional(),
    /**
     * Whether added and removed tools are announced in messages, so that the request's tool list stays the same. This
     * is an Anthropic beta, which not all models support.
     */
    inlineTools: z.boolean().default(false),
    /** Anthropic's context edits, in the API's own format. They are betas that clear old tool results or summarize. */
    edits: z.array(editSchema).default([]),
  })
  .refine(({ budgetTokens, hardTokens }) => budgetTokens < hardTokens, {
    error: "expected hardTokens to be more than budgetTokens",
  })
  .refine(({ inlineTools, edits }) => !inlineTools || !edits.some(compacts), {
    error: `expected no edit of type ${COMPACTION} together with inlineTools`,
  });

const continueSchema = z.union(
  [
    z.boolean(),
    z.strictObject({ withinMs: positiveInteger }),
    z.custom<ContinueConversation>((value) => typeof value === "function"),
  ],
  "expected true, false, {withinMs: number} or a function",
);

const stateSchema = z
  .custom<z.ZodType<object>>((value) => value instanceof z.ZodType, "expected a zod object")
  .refine((schema) => schema.safeParse({}).success, "expected a schema that accepts {}: give each field a default");

/** The fields of parley.config.ts. Unknown fields are rejected, because they are most often typos. */
const fields = z.strictObject({
  ...agentFields,
  /**
   * The model that answers, or a list: if a model fails, the next one continues. The name of the first is overridden by
   * the environment variable ANTHROPIC_MODEL.
   */
  model: modelSchema.prefault({}),
  /** The folder of server tools, relative to the working directory. */
  toolsFolder: z.string().min(1).default("tools"),
  /** The folder of additional agents, relative to the working directory. It need not exist (docs/agents.md). */
  agentsFolder: z.string().min(1).default("agents"),
  /**
   * Settings for tools, by tool name. A tool receives its own as `context.settings`, validated by its schema at start.
   */
  toolSettings: z.record(z.string(), z.unknown()).default({}),
  /**
   * By tool name: how much ToolCallState and the event `tool_state` show of the tool's calls. Overrides the tool's
   * `stateDetail`.
   */
  toolDetail: z.record(z.string(), z.enum(STATE_DETAILS)).default({}),
  /** MCP servers whose tools the model may use, by the prefix of their tool names (docs/mcp.md). */
  mcpServers: mcpServersSchema.default({}),
  /** Whether the tool `recall` is offered from the start. Otherwise it is offered once turns have been dropped. */
  recall: z.boolean().default(false),
  /** Limits of the context window (docs/long-talks.md). */
  context: contextSchema.prefault({}),
  /** Maximum number of model calls in one turn. */
  maxSteps: positiveInteger.default(10),
  /** How long a server tool may run if it sets no `timeoutMs`, in ms. */
  toolTimeoutMs: positiveInteger.max(600_000).default(30_000),
  /** The maximum number of bytes of one tool result that the model is shown. */
  toolResultMaxBytes: z.number().int().min(1_000).default(100_000),
  /** How long a model stream may be silent before it counts as broken, in ms. */
  modelIdleTimeoutMs: positiveInteger.default(30_000),
  /** Timing and phrases of speech (docs/voice.md). */
  voice: voiceSchema.prefault({}),
  /** Whether a message that arrives during a turn waits for the turn to end or interrupts it. */
  onNewMessage: z.enum(["queue", "interrupt"]).default("queue"),
  /** Phrases that the worker itself says, by language (docs/voice.md). */
  phrases: phrasesSchema.default({}),
  telemetry: z
    .strictObject({
      /** How captured content represents tools that Anthropic runs (docs/telemetry-representation.md). */
      representation: representationSchema.default("server_tool_call"),
      /** The value of `gen_ai.agent.name` in telemetry. */
      agentName: z.string().min(1).max(100).default("parley"),
    })
    .prefault({}),
  /**
   * Whether a room continues the conversation of an earlier room of the same name (docs/agents.md): always, never, if
   * the last turn there ended at most `withinMs` ago, or as a function decides.
   */
  continueConversation: continueSchema.default(true),
  /** The schema of the state that tools and hooks keep for a session (docs/state.md). @defaultValue any JSON object */
  state: stateSchema.exactOptional(),
  /** Whether participants may ask the agent to remember things for later sessions (docs/memory.md). */
  memory: z.boolean().default(false),
  /** Turns older than this are deleted. If absent, no turns are deleted (docs/memory.md). */
  retention: z.strictObject({ days: positiveInteger }).exactOptional(),
  /** Budgets for model calls. An omitted budget means no limit (docs/spending.md). */
  budget: z
    .strictObject({
      session: limitSchema.exactOptional(),
      /** The budget for each identity, per UTC day. */
      identityPerDay: limitSchema.exactOptional(),
      /** The budget for all workers on one machine or in one container together, per UTC day. */
      workerPerDay: limitSchema.exactOptional(),
    })
    .default({}),
  /** The price of a million tokens, by model, in any currency. */
  prices: z
    .record(z.string(), z.strictObject({ input: amount, output: amount, cacheRead: amount, cacheWrite: amount }))
    .default({}),
  /** Which calls may run, and how a participant is asked (docs/permissions.md). */
  permission: permissionSchema.prefault({}),
});

/**
 * The schema of parley.config.ts. Compaction by the API is not allowed with retention, because the API's summaries
 * would keep content that retention has deleted.
 */
export const configFileSchema = fields.refine(({ retention, context }) => !retention || !context.edits.some(compacts), {
  error: `context.edits: expected no edit of type ${COMPACTION} together with retention`,
});

/** The fields of parley.config.ts. All except `instructions` have a default. */
export type ConfigFile = z.input<typeof configFileSchema>;
export type ConfigFileValues = z.output<typeof configFileSchema>;

/** Type-checks the fields of parley.config.ts. Values are validated at start, so that errors can name the file. */
export function defineConfig(config: ConfigFile): ConfigFile {
  return config;
}
