import { cleanJson } from "../../lib/clean-json.ts";
import type { JsonValue } from "../../lib/json.ts";
import { type MessageBody, sdkFeatures } from "../../protocol/messages/messages.ts";

const CLIENT_VERSION = "parley-sdk 0.1.0";

type Configuration = MessageBody<"configuration">;

export interface ParleyOptions {
  /** Features to ask for besides those that the SDK names itself; for instance `blocks` or `permissions`. */
  readonly features?: readonly string[];
  /** The language that the participant prefers, as a BCP 47 tag. */
  readonly language?: string;
  /** Anything about this device that the worker should know. */
  readonly device?: JsonValue;
}

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
