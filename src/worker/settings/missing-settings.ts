import type { Config } from "../config.ts";

export const DATABASE_NEEDED = "DATABASE_URL: the address of a PostgreSQL 15 or newer";

/**
 * The variables that are needed and not set, one line each. `parley worker` starts no LiveKit and no database, and
 * starts the scripted model only when it is asked to. A LiveKit that runs elsewhere always needs its keys.
 */
export function missingSettings(config: Config, isWorkerOnly: boolean, hasScripted = !isWorkerOnly): string[] {
  const needsLivekitKeys = isWorkerOnly || config.livekitUrl !== undefined;
  const missing: (string | false)[] = [
    isWorkerOnly && config.livekitUrl === undefined && "LIVEKIT_URL: the address of LiveKit",
    needsLivekitKeys && config.livekitApiKey === undefined && "LIVEKIT_API_KEY: a key of that LiveKit",
    needsLivekitKeys && config.livekitApiSecret === undefined && "LIVEKIT_API_SECRET: the key's secret",
    isWorkerOnly && config.databaseUrl === undefined && DATABASE_NEEDED,
    !isWorkerOnly &&
      config.databaseUrl === undefined &&
      config.databaseDirectUrl !== undefined &&
      "DATABASE_URL: DATABASE_DIRECT_URL only names another way to it",
    config.webhook !== undefined &&
      config.webhook.secret === undefined &&
      "WEBHOOK_SECRET: signs what is sent to WEBHOOK_URL; echo whsec_$(openssl rand -base64 32) makes one",
    needsPrice(config) && `prices: the price of "${config.model.name}" in the config file, because budget names money`,
    !hasScripted && !hasModel(config) && "ANTHROPIC_API_KEY: a key of the model's API (or ANTHROPIC_BASE_URL)",
  ];
  return missing.filter((line) => line !== false);
}

/** Whether a budget of money lacks the price of the config's model, whichever answers now: it would never be used up. */
function needsPrice({ budget, prices, model }: Config): boolean {
  const namesMoney = Object.values(budget).some(({ money }) => money !== undefined);
  return namesMoney && !Object.hasOwn(prices, model.name);
}

/** Whether a model is configured. Without one the scripted model is used, or the start fails. */
export function hasModel(config: Pick<Config, "anthropicApiKey" | "anthropicBaseUrl">): boolean {
  return config.anthropicApiKey !== undefined || config.anthropicBaseUrl !== undefined;
}
