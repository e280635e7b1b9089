import { z } from "zod";
import { agentFields, modelFields, rulesSchema } from "../agent/agent-fields.ts";
import { representationSchema } from "../telemetry/representation/representation.ts";
import { mcpServersSchema } from "../tool/mcp/mcp-config.ts";
import { voiceSchema } from "../voice/voice-settings.ts";
import { STATE_DETAILS } from "../tool/server-tool.ts";

const positiveInteger = z.number().int().positive();

const phrase = z.string().min(1).exactOptional();
/** Phrases by language, which is the first part of its tag: `en` of `en-GB`. */
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
  /** Whether the question is also spoken, and may be answered by a short yes or no. */
  byVoice: z.boolean().default(false),
  /** How long an answer is waited for, in ms. Without one the call is refused. */
  waitMs: positiveInteger.max(600_000).default(120_000),
});

/** The API's own summaries, which take the place of what stands before them: of tools that were told there, too. */
const COMPACTION = "compact_20260112";
const compacts = ({ type }: { readonly type: string }) => type === COMPACTION;

const editSchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("clear_tool_uses_20250919") }),
  // A pause would end the turn without an answer.
  z.looseObject({ type: z.literal(COMPACTION), pause_after_compaction: z.literal(false).exactOptional() }),
]);

const contextSchema = z
  .strictObject({
    /** How many tokens of past turns the model is shown. When there are more, the oldest turns are left out. */
    budgetTokens: z.number().int().min(1_000).default(30_000),
    /** The most tokens that a request may have. With `model.maxTokens` they must fit into the model's context. */
    hardTokens: z.number().int().min(2_000).default(120_000),
    /** The id of a model that writes notes on turns before they are left out. Absent: no notes are written. */
    summaryModel: z.string().min(1).optional(),
    /** Tells in messages, not in the request's list, which tools come and go: Anthropic's beta, not for all models. */
    inlineTools: z.boolean().default(false),
    /** Anthropic's context editing, in the API's own form: betas by which the API clears old tool results, or summarises. */
    edits: z.array(editSchema).default([]),
  })
  .refine(({ budgetTokens, hardTokens }) => budgetTokens < hardTokens, {
    error: "expected hardTokens to be more than budgetTokens",
  })
  .refine(({ inlineTools, edits }) => !inlineTools || !edits.some(compacts), {
    error: `expected no edit of type ${COMPACTION} beside inlineTools`,
  });

/** The fields of parley.config.ts. An unknown one is refused, because it is most often a typing mistake. */
const fields = z.strictObject({
  ...agentFields,
  model: z
    .strictObject({
      /** The variable ANTHROPIC_MODEL wins over it. */
      name: modelFields.name.default("claude-sonnet-5-5"),
      maxTokens: modelFields.maxTokens.default(4096),
      thinking: modelFields.thinking.optional(),
      serverTools: modelFields.serverTools.default([]),
      effort: modelFields.effort.optional(),
    })
    .prefault({}),
  /** Where server tools are read from, relative to the working directory. */
  toolsFolder: z.string().min(1).default("tools"),
  /** Where further agents are read from, relative to the working directory; it need not exist (docs/agents.md). */
  agentsFolder: z.string().min(1).default("agents"),
  /** What a tool gets as `context.settings`, by the tool's name. The tool's own schema checks it at start. */
  toolSettings: z.record(z.string(), z.unknown()).default({}),
  /** How much ToolCallState and the event `tool_state` show of a tool's calls, by its name; wins over `stateDetail`. */
  toolDetail: z.record(z.string(), z.enum(STATE_DETAILS)).default({}),
  /** MCP servers whose tools the model may use, by the prefix of their tools' names (docs/mcp.md). */
  mcpServers: mcpServersSchema.default({}),
  /** Whether the tool `recall` is offered from the start. Otherwise it is offered once turns are left out. */
  recall: z.boolean().default(false),
  /** How much of the talk the model is shown (docs/long-talks.md). */
  context: contextSchema.prefault({}),
  /** Limit of model calls in one turn. */
  maxSteps: positiveInteger.default(10),
  /** Deadline of server tools that set none, in ms. */
  toolTimeoutMs: positiveInteger.max(600_000).default(30_000),
  /** How much of one result the model reads, in bytes. */
  toolResultMaxBytes: z.number().int().min(1_000).default(100_000),
  /** A model stream that is silent for this long, in ms, counts as broken. */
  modelIdleTimeoutMs: positiveInteger.default(30_000),
  /** Times and texts of speech (docs/voice.md). */
  voice: voiceSchema.prefault({}),
  /** Whether a message that comes during a turn waits for the turn's end, or interrupts it. */
  onNewMessage: z.enum(["queue", "interrupt"]).default("queue"),
  /** What the worker says by itself, by language (docs/voice.md). */
  phrases: phrasesSchema.default({}),
  telemetry: z
    .strictObject({
      /** How captured content shows tools that Anthropic runs (docs/telemetry-representation.md). */
      representation: representationSchema.default("server_tool_call"),
      /** `gen_ai.agent.name`. */
      agentName: z.string().min(1).max(100).default("parley"),
    })
    .prefault({}),
  /** Whether a room goes on with the conversation of an earlier room of the same name (docs/agents.md). */
  continueConversation: z.boolean().default(true),
  /** Whether participants may ask for things to be remembered for later talks (docs/memory.md). */
  memory: z.boolean().default(false),
  /** Turns older than this are deleted; without it, nothing is (docs/memory.md). */
  retention: z.strictObject({ days: positiveInteger }).exactOptional(),
  /** What may be spent on model calls; what is not named has no limit (docs/spending.md). */
  budget: z
    .strictObject({
      session: limitSchema.exactOptional(),
      /** For each identity and UTC day. */
      identityPerDay: limitSchema.exactOptional(),
      /** For all workers of one machine or container, and a UTC day. */
      workerPerDay: limitSchema.exactOptional(),
    })
    .default({}),
  /** What a million tokens cost, by model, in any currency. */
  prices: z
    .record(z.string(), z.strictObject({ input: amount, output: amount, cacheRead: amount, cacheWrite: amount }))
    .default({}),
  /** Which calls may run, and how a participant is asked (docs/permissions.md). */
  permission: permissionSchema.prefault({}),
});

/** Shape of parley.config.ts. The API's summaries would keep what retention has removed. */
export const configFileSchema = fields.refine(({ retention, context }) => !retention || !context.edits.some(compacts), {
  error: `context.edits: expected no edit of type ${COMPACTION} beside retention`,
});

/** What parley.config.ts may hold; everything but `instructions` has a default. */
export type ConfigFile = z.input<typeof configFileSchema>;
export type ConfigFileValues = z.output<typeof configFileSchema>;

/** Gives parley.config.ts its types. It is checked at start, where an error can name the file. */
export function defineConfig(config: ConfigFile): ConfigFile {
  return config;
}
