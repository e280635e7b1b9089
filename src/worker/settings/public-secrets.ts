import { AppError } from "../../errors/app-error.ts";
import { isLoopback, namesLoopback } from "../../lib/loopback.ts";
import type { Config } from "../config.ts";

/** Secrets that anybody can look up: the default of docker-compose.yml, and that of `livekit-server --dev`. */
const PUBLIC_SECRETS: readonly (string | undefined)[] = ["development-secret-that-everybody-knows", "secret"];

type Reach = Pick<Config, "livekitApiSecret" | "tokenSecret" | "livekitPublicUrl" | "publishAddress">;

/**
 * A warning if other machines can reach LiveKit while a secret is one that anybody can look up: whoever knows it can
 * make tokens for all rooms.
 *
 * @throws {AppError} `invalid_config` if it is docker-compose.yml that lets them in: there the secrets have defaults
 */
export function checkSecrets(config: Reach): string | undefined {
  const { livekitPublicUrl, publishAddress } = config;
  const isPublished = !isLoopback(publishAddress);
  const warning = publicSecret(config);
  if (warning !== undefined && isPublished)
    throw new AppError("invalid_config", `LiveKit's ports are published on ${publishAddress}, so ${warning}`);
  return livekitPublicUrl !== undefined && !namesLoopback(livekitPublicUrl) ? warning : undefined;
}

function publicSecret({ livekitApiSecret, tokenSecret }: Reach): string | undefined {
  if (PUBLIC_SECRETS.includes(livekitApiSecret))
    return "anybody can join: LIVEKIT_API_SECRET is a public default. Set your own LIVEKIT_API_KEY and LIVEKIT_API_SECRET";
  if (PUBLIC_SECRETS.includes(tokenSecret))
    return "anybody can get a token: TOKEN_SECRET is a public default. Set your own TOKEN_SECRET";
  return undefined;
}
