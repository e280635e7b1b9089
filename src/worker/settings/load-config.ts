import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import type { SpeechChoice } from "../../voice/providers/speech-choice.ts";
import { SPEECH_KEYS } from "../../voice/providers/provider-list.ts";
import type { ConfigFileValues } from "../config-file.ts";
import { type Config, DEVELOPMENT } from "../config.ts";
import type { OtelConfig } from "../otel-config.ts";
import { withPassword } from "./database-url.ts";
import { addEnvFile } from "./env-file.ts";
import { type Environment, parseEnvironment, SECRET_NAMES } from "./environment.ts";
import { readConfigFile } from "./read-config-file.ts";
import { readSecretFiles } from "./secret-files.ts";

/** The defaults if `addDefaultSpeech` has not set STT and TTS to the embedded models. */
const DEFAULT_STT = "none";
const DEFAULT_TTS = "espeak";

/**
 * Reads `.env`, the environment (which overrides `.env`), the files that contain secrets, and the config file in `cwd`.
 * Variables from `.env` and the secrets are added to `env` itself, so that the config file and child processes can read
 * them too. May be called again.
 *
 * @throws {AppError} `invalid_config` naming the variable or the field, what was expected, and the value
 */
export async function loadConfig(env: NodeJS.ProcessEnv, cwd: string): Promise<Config> {
  await addEnvFile(env, resolve(cwd, ".env"));
  await readSecretFiles(env, cwd, SECRET_NAMES);
  const variables = parseEnvironment(env);
  const file = await readConfigFile(resolve(cwd, variables.PARLEY_CONFIG));
  const speech = toSpeechChoice(variables, file.voice);
  const sessions = defaultSessions(speech, file.voice);
  return {
    ...file,
    model: { ...file.model, name: variables.ANTHROPIC_MODEL ?? file.model.name },
    toolsFolder: resolve(cwd, file.toolsFolder),
    agentsFolder: resolve(cwd, file.agentsFolder),
    anthropicApiKey: variables.ANTHROPIC_API_KEY,
    anthropicBaseUrl: variables.ANTHROPIC_BASE_URL,
    livekitUrl: variables.LIVEKIT_URL,
    livekitApiKey: variables.LIVEKIT_API_KEY,
    livekitApiSecret: variables.LIVEKIT_API_SECRET,
    livekitPublicUrl: variables.LIVEKIT_PUBLIC_URL,
    publishAddress: variables.PUBLISH_ADDRESS,
    livekitAgentName: variables.LIVEKIT_AGENT_NAME,
    livekitPort: variables.LIVEKIT_PORT,
    databaseUrl: addressOf("DATABASE_URL", variables),
    databaseDirectUrl: addressOf("DATABASE_DIRECT_URL", variables),
    postgresPort: variables.POSTGRES_PORT,
    httpHost: variables.HTTP_HOST,
    httpPort: variables.HTTP_PORT,
    grpcPort: variables.GRPC_PORT,
    workerPort: variables.WORKER_PORT,
    maxSessions: variables.MAX_SESSIONS ?? Math.min(availableParallelism() * sessions.aCore, sessions.atMost),
    sessionsPerProcess: variables.SESSIONS_PER_PROCESS ?? sessions.aProcess,
    drainSeconds: variables.DRAIN_SECONDS,
    tokenSecret: variables.TOKEN_SECRET,
    webhook: variables.WEBHOOK_URL ? { url: variables.WEBHOOK_URL, secret: variables.WEBHOOK_SECRET } : undefined,
    speech,
    logLevel: variables.LOG_LEVEL,
    logFormat: variables.LOG_FORMAT,
    isDevelopment: env[DEVELOPMENT] === "1" && variables.LOG_FORMAT !== "json",
    otel: readOtelConfig(variables),
    dataDir: resolve(cwd, variables.PARLEY_DATA_DIR),
    cacheDir: resolve(cwd, variables.PARLEY_CACHE_DIR),
  };
}

/** Returns the default number of sessions, which depends on whether they use speech (docs/scaling.md). */
function defaultSessions({ stt, tts }: SpeechChoice, { listen, speak }: ConfigFileValues["voice"]) {
  const atMost = Number.POSITIVE_INFINITY;
  // The embedded recognizer is one thread for all sessions, however many cores there are.
  if (stt === "embedded") return { aProcess: 10, aCore: 3, atMost: 12 };
  if (listen || stt !== "none") return { aProcess: 10, aCore: 5, atMost };
  return { aProcess: 50, aCore: speak || tts !== "none" ? 20 : 50, atMost };
}

function addressOf(name: "DATABASE_URL" | "DATABASE_DIRECT_URL", variables: Environment): string | undefined {
  const url = variables[name];
  return url && withPassword(url, { name, password: variables.PGPASSWORD });
}

/** The plugins of the config file override STT and TTS. */
function toSpeechChoice(variables: Environment, { listen, speak }: ConfigFileValues["voice"]): SpeechChoice {
  return {
    stt: listen ? "none" : (variables.STT ?? DEFAULT_STT),
    sttModel: variables.STT_MODEL,
    sttLanguage: variables.STT_LANGUAGE,
    sttBaseUrl: variables.STT_BASE_URL,
    tts: speak ? "none" : (variables.TTS ?? DEFAULT_TTS),
    ttsModel: variables.TTS_MODEL,
    ttsVoice: variables.TTS_VOICE,
    ttsBaseUrl: variables.TTS_BASE_URL,
    keys: Object.fromEntries(SPEECH_KEYS.map((name) => [name, variables[name]])),
    hasOwnLivekit: variables.LIVEKIT_URL === undefined,
  };
}

const LATEST = "gen_ai_latest_experimental";

/**
 * Returns the settings for telemetry. A signal (traces, metrics or logs) is exported if its own endpoint or the common
 * one is set. The exporters read the endpoints themselves.
 */
export function readOtelConfig(variables: Environment): OtelConfig {
  const isDisabled = variables.OTEL_SDK_DISABLED === "true";
  const isOn = (exporter: "otlp" | "none", endpoint: string | undefined) =>
    !isDisabled && exporter === "otlp" && (endpoint ?? variables.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined;
  const optIns = (variables.OTEL_SEMCONV_STABILITY_OPT_IN ?? "").split(",").map((word) => word.trim());
  return {
    isDisabled,
    exports: {
      traces: isOn(variables.OTEL_TRACES_EXPORTER, variables.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT),
      metrics: isOn(variables.OTEL_METRICS_EXPORTER, variables.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT),
      logs: isOn(variables.OTEL_LOGS_EXPORTER, variables.OTEL_EXPORTER_OTLP_LOGS_ENDPOINT),
    },
    metricsEveryMs: variables.OTEL_METRIC_EXPORT_INTERVAL,
    sampler: { name: variables.OTEL_TRACES_SAMPLER, ratio: variables.OTEL_TRACES_SAMPLER_ARG },
    convention: optIns.includes(LATEST) ? "latest" : "1.41",
    capture: variables.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
  };
}
