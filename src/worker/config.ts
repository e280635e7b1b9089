import type { SpeechChoice } from "../voice/providers/speech-choice.ts";
import type { ConfigFileValues } from "./config-file.ts";
import type { OtelConfig } from "./otel-config.ts";

export { defineConfig } from "./config-file.ts";

/** The configuration from file, environment and defaults. Folders are absolute paths, times are in ms. */
export interface Config extends Readonly<ConfigFileValues> {
  /** If this and `anthropicBaseUrl` are undefined, no model is configured: see `hasModel`. */
  readonly anthropicApiKey: string | undefined;
  readonly anthropicBaseUrl: string | undefined;
  /** `undefined` means that `npm start` starts a livekit-server. */
  readonly livekitUrl: string | undefined;
  readonly livekitApiKey: string | undefined;
  readonly livekitApiSecret: string | undefined;
  /** LiveKit's address for participants, if it differs from the worker's. */
  readonly livekitPublicUrl: string | undefined;
  /** The address on which docker-compose.yml publishes ports. See `checkSecrets`. */
  readonly publishAddress: string;
  /** The worker receives only rooms dispatched to this name. If undefined, LiveKit offers it every room. */
  readonly livekitAgentName: string | undefined;
  /** Signaling port of the livekit-server that we start. Media uses the next port, over UDP. */
  readonly livekitPort: number;
  /** Includes the password, which may come from PGPASSWORD. `undefined` means that `npm start` starts PostgreSQL. */
  readonly databaseUrl: string | undefined;
  /**
   * A second address of the same database, which bypasses a pooler. Includes the password. In a host process, this is
   * the address for notifications, or undefined if none works.
   */
  readonly databaseDirectUrl: string | undefined;
  /**
   * The port of the PostgreSQL that `npm start` starts. 0 means the port of the previous start if that port is free,
   * otherwise any free port.
   */
  readonly postgresPort: number;
  readonly httpHost: string;
  readonly httpPort: number;
  /** If undefined, gRPC-Web and Connect are served on the HTTP port only. */
  readonly grpcPort: number | undefined;
  readonly workerPort: number;
  /** The number of sessions at which the worker reports to LiveKit that it is full. */
  readonly maxSessions: number;
  /** How many sessions one process serves. 1 means that each session has its own process. */
  readonly sessionsPerProcess: number;
  /** How long handovers to other workers may take after SIGTERM. 0 means that sessions end right away. */
  readonly drainSeconds: number;
  readonly tokenSecret: string | undefined;
  /** If undefined, no webhook is sent when sessions end. With a URL but no secret, the start fails. */
  readonly webhook: { readonly url: string; readonly secret: string | undefined } | undefined;
  readonly speech: SpeechChoice;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  /**
   * Whether this is an author's own machine, whose terminal may show conversation content: under `parley start`, unless
   * NODE_ENV is `production` or LOG_FORMAT is `json`.
   */
  readonly isDevelopment: boolean;
  readonly otel: OtelConfig;
  readonly dataDir: string;
  readonly cacheDir: string;
}

/** The variable with which the main process sets `isDevelopment`, for itself and its job processes. */
export const DEVELOPMENT = "PARLEY_DEVELOPMENT";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ["auto", "json", "pretty"] as const;
type LogFormat = (typeof LOG_FORMATS)[number];
