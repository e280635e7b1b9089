import { cleanJson } from "../../lib/clean-json.ts";
import { type MessageBody, sdkFeatures } from "../../protocol/messages/messages.ts";
import type { ParleyOptions } from "../parley.ts";

const CLIENT_VERSION = "parley-sdk 0.1.0";

type Configuration = MessageBody<"configuration">;

/** What a client is now. */
interface Present {
  readonly lastSequenceSeen: number | undefined;
  /** Whether it plays the agent's sound. */
  readonly listens: boolean;
  readonly tools: NonNullable<Configuration["tools"]>;
}

/** The Configuration by which a client tells the worker what it is. */
export function toConfiguration(
  { features = [], language, device }: ParleyOptions,
  { lastSequenceSeen, listens, tools }: Present,
): Configuration {
  return {
    ...(lastSequenceSeen !== undefined && { lastSequenceSeen }),
    clientVersion: CLIENT_VERSION,
    ...(language !== undefined && { preferredLanguage: language }),
    ...(device !== undefined && { device: cleanJson(device) }),
    ...(!listens && { listens }),
    features: [...new Set([...sdkFeatures(), ...features])],
    tools,
  };
}
