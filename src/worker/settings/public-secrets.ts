import { AppError } from "../../errors/app-error.ts";
import { isLoopback, namesLoopback } from "../../lib/loopback.ts";
import type { Config } from "../config.ts";

/** Secrets that anybody can look up: the defaults of docker-compose.yml and of `livekit-server --dev`. */
const PUBLIC_SECRETS: readonly (string | undefined)[] = ["development-secret-that-everybody-knows", "secret"];

type Reach = Pick<Config, "livekitApiSecret" | "tokenSecret" | "livekitPublicUrl" | "publishAddress">;

/**
 * Returns a warning if other machines can reach LiveKit while a secret is publicly known: anybody who knows it can
 * create tokens for all rooms.
 *
 * @throws {AppError} `invalid_config` if docker-compose.yml publishes LiveKit's ports to other machines while a secret
 *   is public
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
