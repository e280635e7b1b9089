import { z } from "zod";
import { representationSchema } from "../telemetry/representation/representation.ts";
import { mcpServersSchema } from "../tool/mcp/mcp-config.ts";
import { type SpeechChoice } from "../voice/providers/speech-choice.ts";
import { voiceSchema } from "../voice/voice-settings.ts";
import { type OtelConfig } from "./otel-config.ts";
import { STATE_DETAILS } from "../tool/server-tool.ts";

const positiveInteger = z.number().int().positive();

const phrase = z.string().min(1).exactOptional();
/** By the primary subtag of a language's tag. */
const phrasesSchema = z.record(
  z.string().regex(/^[a-z]{2,3}$/, "expected a language such as en"),
  z.strictObject({
    refused: phrase,
    stopped: phrase,
    tooManySteps: phrase,
    unfinished: phrase,
    failed: phrase,
    notice: phrase,
    tooMany: phrase,
  }),
);
/** A denial that means a choice and is taken by its word would deny nothing. */
const rulePattern = z
  .string()
  .min(1)
  .refine((text) => !/(?<!\\)\{[^}]*,[^}]*\}/u.test(text), "{a,b} is no choice: write a rule for each, or \\{a,b}");
const permissionSchema = z.strictObject({
  /**
   * `type` and `pattern` are globs. A deny wins, then the last rule that matches; when none does, the participant is
   * asked.
   */
  rules: z
    .array(z.strictObject({ type: rulePattern, pattern: rulePattern, action: z.enum(["allow", "ask", "deny"]) }))
    .default([]),
  /** The question is said, and a short yes or no answers it. */
  byVoice: z.boolean().default(false),
  /** How long an answer is waited for; then it is no. */
  waitMs: positiveInteger.max(600_000).default(120_000),
});

/** Shape of parley.config.ts. An unknown field is refused: it is a typing mistake more often than not. */
export const configFileSchema = z.strictObject({
  /** The model's system prompt. */
  instructions: z.string().min(1),
  model: z
    .strictObject({
      /** A model id of the Messages API; ANTHROPIC_MODEL wins. */
      name: z.string().min(1).default("claude-sonnet-5-5"),
      maxTokens: positiveInteger.default(4096),
      /** Absent means that no thinking is asked for. */
      thinking: z
        .union([z.literal("adaptive"), z.strictObject({ budgetTokens: z.number().int().min(1024) })], {
          error: 'expected "adaptive" or {budgetTokens: 1024 or more}',
        })
        .optional(),
      /** Anthropic's own tools, in the API's words: `{type: "web_search_20260318", name: "web_search"}`. */
      serverTools: z.array(z.looseObject({ type: z.string().min(1), name: z.string().min(1) })).default([]),
      effort: z.enum(["low", "medium", "high", "xhigh", "max"]).optional(),
    })
    .prefault({}),
  /** Where server tools are read from, relative to the working directory. */
  toolsFolder: z.string().min(1).default("tools"),
  /** What a tool gets as `context.settings`, by the tool's name; the tool's own shape checks it at start. */
  toolSettings: z.record(z.string(), z.unknown()).default({}),
  /** What ToolCallState and the event `tool_state` show of a tool's calls, by its name; else what the tool says. */
  toolDetail: z.record(z.string(), z.enum(STATE_DETAILS)).default({}),
  /** MCP servers whose tools the model may use, by the name that those begin with (docs/mcp.md). */
  mcpServers: mcpServersSchema.default({}),
  /** Model calls in one turn. */
  maxSteps: positiveInteger.default(10),
  /** For tools that name no deadline of their own. */
  toolTimeoutMs: positiveInteger.max(600_000).default(30_000),
  /** What the model gets to read of one result. */
  toolResultMaxBytes: z.number().int().min(1_000).default(100_000),
  /** A model stream that says nothing for so long counts as broken. */
  modelIdleTimeoutMs: positiveInteger.default(30_000),
  /** How a talk by voice goes (docs/voice.md). */
  voice: voiceSchema.prefault({}),
  /** A message that comes during a turn waits for its end, or interrupts it. */
  onNewMessage: z.enum(["queue", "interrupt"]).default("queue"),
  /** What the worker says in words of its own, by language (docs/voice.md). */
  phrases: phrasesSchema.default({}),
  telemetry: z
    .strictObject({
      /** How tools that Anthropic runs are shown where content is captured (docs/telemetry-representation.md). */
      representation: representationSchema.default("server_tool_call"),
      /** `gen_ai.agent.name`. */
      agentName: z.string().min(1).max(100).default("parley"),
    })
    .prefault({}),
  /** Which calls may run, and how a participant is asked (docs/permissions.md). */
  permission: permissionSchema.prefault({}),
});

/** What parley.config.ts may hold; everything but `instructions` has a default. */
type ConfigFile = z.input<typeof configFileSchema>;
type ConfigFileValues = z.output<typeof configFileSchema>;

/** Types parley.config.ts; checking happens at start, where an error can name the file. */
export function defineConfig(config: ConfigFile): ConfigFile {
  return config;
}

/** Everything that was configured, resolved: file, environment and defaults. Folders are absolute. */
export interface Config extends Readonly<ConfigFileValues> {
  /** Undefined: the scripted model is used. */
  readonly anthropicApiKey: string | undefined;
  readonly anthropicBaseUrl: string | undefined;
  /** Undefined: a livekit-server is started. */
  readonly livekitUrl: string | undefined;
  readonly livekitApiKey: string | undefined;
  readonly livekitApiSecret: string | undefined;
  /** What participants are told, when their way to LiveKit is another than the worker's. */
  readonly livekitPublicUrl: string | undefined;
  /** Signalling port of the livekit-server that we start; its TCP and UDP media ports are the next two. */
  readonly livekitPort: number;
  /** With its password, wherever that came from. Undefined: an embedded PostgreSQL is started. */
  readonly databaseUrl: string | undefined;
  /** 0: a free one, remembered in the data folder. */
  readonly postgresPort: number;
  readonly httpHost: string;
  readonly httpPort: number;
  /** Undefined: gRPC-Web and Connect on the HTTP port only. */
  readonly grpcPort: number | undefined;
  readonly workerPort: number;
  /** Sessions that this worker takes before it calls itself full. */
  readonly maxSessions: number;
  readonly tokenSecret: string | undefined;
  readonly speech: SpeechChoice;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly otel: OtelConfig;
  readonly dataDir: string;
  readonly cacheDir: string;
}

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ["auto", "json", "pretty"] as const;
type LogFormat = (typeof LOG_FORMATS)[number];
