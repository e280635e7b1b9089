import type { ModelSettings } from "../../agent/model-fields.ts";
import type { Config } from "../config.ts";

export const DATABASE_NEEDED = "DATABASE_URL: the address of a PostgreSQL 15 or newer";

/**
 * Returns the required variables that are not set, one line each. `parley worker` starts neither LiveKit nor a
 * database, and starts the scripted model only on request. The keys of an external LiveKit are always required.
 */
export function missingSettings(config: Config, isWorkerOnly: boolean, hasScripted = !isWorkerOnly): string[] {
  const needsLivekitKeys = isWorkerOnly || config.livekitUrl !== undefined;
  const missing: (string | false)[] = [
    isWorkerOnly && config.livekitUrl === undefined && "LIVEKIT_URL: the address of LiveKit",
    needsLivekitKeys && config.livekitApiKey === undefined && "LIVEKIT_API_KEY: an API key of that LiveKit",
    needsLivekitKeys && config.livekitApiSecret === undefined && "LIVEKIT_API_SECRET: the key's secret",
    isWorkerOnly && config.databaseUrl === undefined && DATABASE_NEEDED,
    !isWorkerOnly &&
      config.databaseUrl === undefined &&
      config.databaseDirectUrl !== undefined &&
      "DATABASE_URL: DATABASE_DIRECT_URL is only a second address of the same database",
    config.webhook !== undefined &&
      config.webhook.secret === undefined &&
      "WEBHOOK_SECRET: signs the requests to WEBHOOK_URL; create one with: echo whsec_$(openssl rand -base64 32)",
    ...missingPrices(config, [...modelsOf(config).map(({ name }) => name), config.context.summaryModel]),
    !hasScripted && !hasModel(config) && "ANTHROPIC_API_KEY: a key of the model's API (or ANTHROPIC_BASE_URL)",
  ];
  return missing.filter((line) => line !== false);
}

/**
 * If a budget limits money, returns a line for each model without a price, because calls to that model would count as
 * free. Prices are required even if the scripted model answers.
 *
 * @param models model names; `undefined` entries are ignored
 */
export function missingPrices(
  { budget, prices }: Pick<Config, "budget" | "prices">,
  models: readonly (string | undefined)[],
): string[] {
  if (!Object.values(budget).some(({ money }) => money !== undefined)) return [];
  const lacking = models.filter((model) => model !== undefined && !Object.hasOwn(prices, model));
  return [...new Set(lacking)].map(
    (model) => `prices: the price of "${model}" in the config file, because budget limits money`,
  );
}

/** Returns a line for each key of a model that the environment does not contain. */
export function missingKeys(models: readonly Partial<ModelSettings>[], env: NodeJS.ProcessEnv): string[] {
  const keys = models.flatMap(({ key }) => key ?? []);
  return [...new Set(keys)].filter((key) => !env[key]).map((key) => `${key}: the key that \`model\` names`);
}

interface HasModel {
  readonly model: Partial<ModelSettings> & { readonly fallbacks?: readonly ModelSettings[] };
}

/** Returns the models of an agent, or of the config file. */
export function modelsOf({ model }: HasModel): readonly Partial<ModelSettings>[] {
  return [model, ...(model.fallbacks ?? [])];
}

/** Whether a model is configured. If not, the scripted model is used, or the start fails. */
export function hasModel(config: Pick<Config, "anthropicApiKey" | "anthropicBaseUrl" | "model">): boolean {
  const { anthropicApiKey, anthropicBaseUrl, model } = config;
  return [anthropicApiKey, anthropicBaseUrl, model.baseUrl, model.key].some((value) => value !== undefined);
}
