import { isLoopback, namesLoopback } from "../../lib/loopback.ts";
import type { Config } from "../config.ts";

/** Secrets that anybody can look up: the default of docker-compose.yml, and that of `livekit-server --dev`. */
const PUBLIC_SECRETS: readonly (string | undefined)[] = ["development-secret-that-everybody-knows", "secret"];

/**
 * A warning if other machines can reach LiveKit while a secret is one that anybody can look up: whoever knows it can
 * make tokens for all rooms.
 */
export function publicSecretsWarning(
  config: Pick<Config, "livekitApiSecret" | "tokenSecret" | "livekitPublicUrl" | "publishAddress">,
): string | undefined {
  const { livekitApiSecret, tokenSecret, livekitPublicUrl, publishAddress } = config;
  const isReachable =
    !isLoopback(publishAddress) || (livekitPublicUrl !== undefined && !namesLoopback(livekitPublicUrl));
  if (!isReachable) return undefined;
  if (PUBLIC_SECRETS.includes(livekitApiSecret))
    return "anybody can join: LIVEKIT_API_SECRET is a public default. Set your own LIVEKIT_API_KEY and LIVEKIT_API_SECRET";
  if (PUBLIC_SECRETS.includes(tokenSecret))
    return "anybody can get a token: TOKEN_SECRET is a public default. Set your own TOKEN_SECRET";
  return undefined;
}
