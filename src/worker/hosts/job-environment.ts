import type { DatabaseWays } from "../../store/database/database-ways.ts";
import { RELOADS } from "../definitions/definitions.ts";
import type { Endpoints } from "../start-services.ts";
import { METRICS_HUB } from "../telemetry/metrics-hub.ts";

/** Secrets that only the worker itself uses: to give out tokens, and to sign webhooks. */
const SECRETS_OF_MAIN = ["TOKEN_SECRET", "WEBHOOK_SECRET"].flatMap((name) => [name, `${name}_FILE`]);

interface JobEnvironmentParts {
  /** With the address at which notifications are heard, if there is one. */
  readonly endpoints: Endpoints & Pick<DatabaseWays, "listenUrl">;
  readonly hubUrl: string;
  /** Whether changed files of tools and agents are loaded again. */
  readonly reloads: boolean;
}

/**
 * The environment from which the processes that serve sessions load their configuration: the worker's own, because the
 * author's config and tools may read any variable, with what has been started, and without the worker's own secrets.
 */
export function jobEnvironment({ endpoints, hubUrl, reloads }: JobEnvironmentParts): NodeJS.ProcessEnv {
  const { livekit, databaseUrl, listenUrl, model } = endpoints;
  // `databaseUrl` includes the password. The driver would use this one for any other address that has none.
  const { PGPASSWORD: _, ...inherited } = process.env;
  return {
    ...inherited,
    // Empty and not absent, here and below, or it would be taken from `.env`.
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
    ...(reloads && { [RELOADS]: "1" }),
  };
}

/** For processes that LiveKit's SDK forks: they get the environment of this one. */
export function becomeJobEnvironment(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (environment[name] === undefined) delete process.env[name];
  Object.assign(process.env, environment);
}
