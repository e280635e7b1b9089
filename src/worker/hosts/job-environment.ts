import type { DatabaseEndpoints } from "../../store/database/database-endpoints.ts";
import { SPEECH_SOCKET } from "../../voice/providers/embedded/open-model.ts";
import { RELOADS } from "../definitions/definitions.ts";
import type { Endpoints } from "../start-services.ts";
import { METRICS_HUB } from "../telemetry/metrics-hub.ts";

/** Secrets that only the main process uses: to issue tokens, and to sign webhooks. */
const SECRETS_OF_MAIN = ["TOKEN_SECRET", "WEBHOOK_SECRET"].flatMap((name) => [name, `${name}_FILE`]);

interface JobEnvironmentParts {
  /** Includes the database address for notifications, if there is one. */
  readonly endpoints: Endpoints & Pick<DatabaseEndpoints, "listenUrl">;
  readonly hubUrl: string;
  /** Whether changed tool and agent files are reloaded. */
  readonly reloads: boolean;
}

/**
 * Returns the environment from which the processes that serve sessions load their configuration: the worker's
 * environment, plus the addresses of started services, minus the worker's own secrets. All other variables are kept,
 * because the author's config and tools may read them.
 */
export function jobEnvironment({ endpoints, hubUrl, reloads }: JobEnvironmentParts): NodeJS.ProcessEnv {
  const { livekit, databaseUrl, listenUrl, model, speechSocket = "" } = endpoints;
  // `databaseUrl` includes the password. With PGPASSWORD set, the driver would also use it for other addresses that
  // contain no password.
  const { PGPASSWORD: _, ...inherited } = process.env;
  return {
    ...inherited,
    // Here and below, a variable is set to an empty value instead of being left out, because a missing variable would
    // be read from `.env`.
    ...Object.fromEntries(SECRETS_OF_MAIN.map((name) => [name, ""])),
    LIVEKIT_URL: livekit.url,
    LIVEKIT_API_KEY: livekit.apiKey,
    LIVEKIT_API_SECRET: livekit.apiSecret,
    DATABASE_URL: databaseUrl,
    DATABASE_DIRECT_URL: listenUrl ?? "",
    ANTHROPIC_API_KEY: model.apiKey,
    ANTHROPIC_MODEL: model.name,
    ...(model.baseUrl !== undefined && { ANTHROPIC_BASE_URL: model.baseUrl }),
    [METRICS_HUB]: hubUrl,
    [SPEECH_SOCKET]: speechSocket,
    ...(reloads && { [RELOADS]: "1" }),
  };
}

/** Applies `environment` to this process. Processes that LiveKit's SDK forks inherit it. */
export function becomeJobEnvironment(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (environment[name] === undefined) delete process.env[name];
  Object.assign(process.env, environment);
}
