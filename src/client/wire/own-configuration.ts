import { cleanJson } from "../../lib/clean-json.ts";
import type { JsonValue } from "../../lib/json.ts";
import { type MessageBody, sdkFeatures } from "../../protocol/messages/messages.ts";

const CLIENT_VERSION = "parley-sdk 0.1.0";

type Configuration = MessageBody<"configuration">;

export interface ParleyOptions {
  /** Features to request in addition to the SDK's own, for instance `blocks` or `permissions`. */
  readonly features?: readonly string[];
  /** The participant's preferred language, as a BCP 47 tag. */
  readonly language?: string;
  /** Any information about this device, for the worker. */
  readonly device?: JsonValue;
  /**
   * Whether this client plays the agent's audio. While nobody in the room does, answers arrive as text, immediately.
   * `Parley.listen` changes it. @defaultValue true
   */
  readonly listens?: boolean;
}

/** The client's current state. */
interface Present {
  readonly lastSequenceSeen: number | undefined;
  /** Whether the client plays the agent's audio. */
  readonly listens: boolean;
  readonly tools: NonNullable<Configuration["tools"]>;
}

/** Builds the Configuration that describes a client to the worker. */
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
