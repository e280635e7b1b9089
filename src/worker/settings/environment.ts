import { z } from "zod";
import { withoutApiPath } from "../../agent/model-fields.ts";
import { AppError } from "../../errors/app-error.ts";
import { hideSecrets } from "../../lib/checks/hide-secrets.ts";
import { toAddress } from "../../store/database/address.ts";
import { SPEECH_KEYS, STT_NAMES, TTS_NAMES, type SpeechKey } from "../../voice/providers/provider-list.ts";
import { CAPTURE_MODES } from "../../telemetry/telemetry.ts";
import { LOG_FORMATS, LOG_LEVELS } from "../config.ts";
import { SAMPLER_NAMES } from "../otel-config.ts";
import { isWebhookSecret } from "../webhooks/sign-webhook.ts";

/** How one variable is parsed, and how an error describes it. */
interface Variable<Value> {
  readonly parse: z.ZodType<Value>;
  readonly expected: string;
  /** The default, as a string. Shown in `.env.example`. */
  readonly fallback?: string;
  /** If true, the value is never shown, not even in an error. */
  readonly isSecret?: boolean;
}

const text: z.ZodType<string> = z.string();
const port: z.ZodType<number> = z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(1).max(65_535));
const anyPort: z.ZodType<number> = z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(0).max(65_535));
const count: z.ZodType<number> = z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(1).max(10_000));

function url(...protocols: readonly string[]): z.ZodType<string> {
  const isOne = (value: string) => URL.canParse(value) && protocols.includes(new URL(value).protocol);
  // Without `abort`, the checks that follow would run on an invalid URL.
  return z.string().refine(isOne, { abort: true });
}

const livekitAddress = {
  parse: url("ws:", "wss:", "http:", "https:").refine((value) => {
    const { username, password, search } = new URL(value);
    return `${username}${password}${search}` === "";
  }),
  expected: "a ws://, wss://, http:// or https:// address, without a user name, a password or a query",
  isSecret: true,
} as const;

const otlpEndpoint = {
  parse: url("http:", "https:"),
  expected: "an http:// or https:// address",
  isSecret: true,
} as const;

const databaseAddress = {
  parse: z.string().transform((value, context) => {
    const address = toAddress(value);
    if (address !== undefined) return address;
    context.addIssue({ code: "custom" });
    return z.NEVER;
  }),
  expected: "a postgres:// or postgresql:// address of one server",
  isSecret: true,
} as const;

const key = { parse: text, expected: "a key", isSecret: true } as const;
const otelExporter = { parse: z.enum(["otlp", "none"]), expected: "otlp or none", fallback: "otlp" } as const;

/** The environment variables that configure Parley. An empty value counts as absent. */
export const VARIABLES = {
  ANTHROPIC_API_KEY: key,
  ANTHROPIC_BASE_URL: {
    parse: url("http:", "https:")
      .refine((value) => new URL(value).search === "" && new URL(value).hash === "")
      .transform(withoutApiPath),
    expected: "an http:// or https:// address without a query",
    isSecret: true,
  },
  ANTHROPIC_MODEL: { parse: text, expected: "a model id" },
  LIVEKIT_URL: livekitAddress,
  LIVEKIT_API_KEY: { parse: text, expected: "a key" },
  LIVEKIT_API_SECRET: { parse: text, expected: "a secret", isSecret: true },
  LIVEKIT_PUBLIC_URL: { ...livekitAddress, isSecret: false },
  // The address on which docker-compose.yml publishes ports. The worker uses it only in `checkSecrets`.
  PUBLISH_ADDRESS: { parse: text, expected: "an address", fallback: "127.0.0.1" },
  LIVEKIT_AGENT_NAME: { parse: text, expected: "a name" },
  LIVEKIT_PORT: {
    parse: port.refine((value) => value <= 65_534),
    expected: "a port from 1 to 65534 (the next port is used as well)",
    fallback: "7880",
  },
  DATABASE_URL: databaseAddress,
  DATABASE_DIRECT_URL: databaseAddress,
  PGPASSWORD: { parse: text, expected: "a password", isSecret: true },
  POSTGRES_PORT: { parse: anyPort, expected: "a port from 0 to 65535 (0: any free port)", fallback: "0" },
  HTTP_HOST: { parse: text, expected: "an address to listen on", fallback: "127.0.0.1" },
  HTTP_PORT: { parse: port, expected: "a port from 1 to 65535", fallback: "8080" },
  GRPC_PORT: { parse: port, expected: "a port from 1 to 65535" },
  WORKER_PORT: { parse: port, expected: "a port from 1 to 65535", fallback: "8081" },
  MAX_SESSIONS: { parse: count, expected: "a number from 1 to 10000" },
  SESSIONS_PER_PROCESS: { parse: count.refine((value) => value <= 200), expected: "a number from 1 to 200" },
  DRAIN_SECONDS: {
    parse: z.string().regex(/^\d+$/).transform(Number).pipe(z.int().max(3_600)),
    expected: "a number of seconds from 0 to 3600",
    fallback: "10",
  },
  TOKEN_SECRET: {
    parse: text.refine((value) => value.length >= 16),
    expected: "16 characters or more",
    isSecret: true,
  },
  WEBHOOK_URL: {
    parse: url("http:", "https:").refine((value) => URL.parse(value)?.username === ""),
    expected: "an http:// or https:// address, without a user name",
    isSecret: true,
  },
  WEBHOOK_SECRET: {
    parse: text.refine(isWebhookSecret),
    expected: "whsec_ followed by 24 to 64 bytes in base64",
    isSecret: true,
  },
  STT: { parse: z.enum(STT_NAMES), expected: `one of ${STT_NAMES.join(", ")}` },
  STT_MODEL: { parse: text, expected: "a model's name" },
  STT_LANGUAGE: { parse: text, expected: "a language tag" },
  STT_BASE_URL: { parse: url("http:", "https:"), expected: "an http:// or https:// address", isSecret: true },
  TTS: { parse: z.enum(TTS_NAMES), expected: `one of ${TTS_NAMES.join(", ")}` },
  TTS_MODEL: { parse: text, expected: "a model's name" },
  TTS_VOICE: { parse: text, expected: "a voice's name or id" },
  TTS_BASE_URL: { parse: url("http:", "https:"), expected: "an http:// or https:// address", isSecret: true },
  ...(Object.fromEntries(SPEECH_KEYS.map((name) => [name, key])) as Record<SpeechKey, typeof key>),
  LOG_LEVEL: { parse: z.enum(LOG_LEVELS), expected: `one of ${LOG_LEVELS.join(", ")}`, fallback: "info" },
  LOG_FORMAT: { parse: z.enum(LOG_FORMATS), expected: `one of ${LOG_FORMATS.join(", ")}`, fallback: "auto" },
  OTEL_EXPORTER_OTLP_ENDPOINT: otlpEndpoint,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: otlpEndpoint,
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: otlpEndpoint,
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: otlpEndpoint,
  // The OpenTelemetry SDK reads the variables below, up to OTEL_RESOURCE_ATTRIBUTES, itself. They are checked here
  // because the SDK does not report invalid values.
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    parse: z.enum(["http/protobuf"]),
    expected: "http/protobuf, the only supported protocol",
    fallback: "http/protobuf",
  },
  OTEL_EXPORTER_OTLP_HEADERS: { parse: text, expected: "name=value, separated by commas", isSecret: true },
  OTEL_EXPORTER_OTLP_TIMEOUT: {
    parse: z.coerce.number().positive(),
    expected: "a number of milliseconds",
    fallback: "10000",
  },
  OTEL_METRIC_EXPORT_INTERVAL: {
    // The maximum delay of a Node timer. With a longer delay, the timer would fire continuously.
    parse: z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(1).max(2_147_483_647)),
    expected: "a whole number of milliseconds from 1 to 2147483647",
    fallback: "60000",
  },
  OTEL_EXPORTER_OTLP_COMPRESSION: { parse: z.enum(["gzip", "none"]), expected: "gzip or none", fallback: "none" },
  OTEL_SERVICE_NAME: { parse: text, expected: "a name", fallback: "parley" },
  OTEL_RESOURCE_ATTRIBUTES: { parse: text, expected: "name=value, separated by commas" },
  OTEL_TRACES_EXPORTER: otelExporter,
  OTEL_METRICS_EXPORTER: otelExporter,
  OTEL_LOGS_EXPORTER: otelExporter,
  OTEL_TRACES_SAMPLER: {
    parse: z.enum(SAMPLER_NAMES),
    expected: `one of ${SAMPLER_NAMES.join(", ")}`,
    fallback: "parentbased_always_on",
  },
  OTEL_TRACES_SAMPLER_ARG: {
    parse: z.coerce.number().min(0).max(1),
    expected: "a number from 0 to 1",
    fallback: "1",
  },
  OTEL_SDK_DISABLED: { parse: z.enum(["true", "false"]), expected: "true or false", fallback: "false" },
  OTEL_SEMCONV_STABILITY_OPT_IN: { parse: text, expected: "names, separated by commas" },
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: {
    parse: z.enum(CAPTURE_MODES),
    expected: `one of ${CAPTURE_MODES.join(", ")}`,
    fallback: "NO_CONTENT",
  },
  // LiveKit's own default is 100, which every job start exceeds.
  LIVEKIT_AGENTS_LOOP_BLOCK_WARN_MS: {
    parse: z.string().regex(/^\d+$/).transform(Number),
    expected: "a number of milliseconds (0: never)",
    fallback: "1000",
  },
  // LiveKit's native library reads this variable itself.
  RUST_LOG: { parse: text, expected: "a level, such as warn, or a filter, such as livekit=debug", fallback: "off" },
  PARLEY_CONFIG: { parse: text, expected: "a file's path", fallback: "parley.config.ts" },
  PARLEY_DATA_DIR: { parse: text, expected: "a folder's path", fallback: ".data" },
  PARLEY_CACHE_DIR: { parse: text, expected: "a folder's path", fallback: ".cache" },
} as const satisfies Record<string, Variable<unknown>>;

/** Secret variables. The value of `NAME` may also come from a file, whose path is in `NAME_FILE`. */
export const SECRET_NAMES: readonly string[] = Object.entries<Variable<unknown>>(VARIABLES).flatMap(
  ([name, { isSecret }]) => (isSecret ? [name] : []),
);

type VariableName = keyof typeof VARIABLES;
type ValueOf<Name extends VariableName> = z.output<(typeof VARIABLES)[Name]["parse"]>;
type WithFallback = { [Name in VariableName]: (typeof VARIABLES)[Name] extends { fallback: string } ? Name : never };

export type Environment = { readonly [Name in WithFallback[VariableName]]: ValueOf<Name> } & {
  readonly [Name in Exclude<VariableName, WithFallback[VariableName]>]: ValueOf<Name> | undefined;
};

/**
 * @throws {AppError} `invalid_config` with a line for each invalid variable: its name, what was expected, and its value
 *   unless it is secret
 */
export function parseEnvironment(env: NodeJS.ProcessEnv): Environment {
  const problems: string[] = [];
  const entries = Object.entries<Variable<unknown>>(VARIABLES).map(([name, variable]) => {
    const raw = env[name] || variable.fallback;
    if (raw === undefined) return [name, undefined];
    const parsed = variable.parse.safeParse(raw);
    if (!parsed.success) problems.push(`${name}: expected ${variable.expected}, got ${shown(raw, variable)}`);
    return [name, parsed.data];
  });
  if (problems.length > 0) throw new AppError("invalid_config", problems.join("\n"));
  return Object.fromEntries(entries) as Environment;
}

function shown(raw: string, variable: Variable<unknown>): string {
  return variable.isSecret ? `a string of ${raw.length} characters` : JSON.stringify(hideSecrets(raw));
}
