import { type LiveKitRoom, toTransport } from "./room/room-transport.ts";
import { didYouMean, refuseUnknownFields } from "../lib/checks/did-you-mean.ts";
import { isLanguageTag } from "../lib/language-tag.ts";
import { workerFeatures } from "../protocol/messages/messages.ts";
import { Parley } from "./parley.ts";
import type { ParleyOptions } from "./wire/own-configuration.ts";
import type { Transport } from "./room/transport.ts";

export interface ConnectOptions extends ParleyOptions {
  /** How long to wait for a worker's acknowledgement, in ms. If 0, `connect` does not wait. @defaultValue 15000 */
  readonly waitForAgentMs?: number;
}

const DEFAULT_WAIT_MS = 15_000;
const OPTIONS: Readonly<Record<keyof ConnectOptions, true>> = {
  waitForAgentMs: true,
  features: true,
  language: true,
  device: true,
  listens: true,
};

/**
 * Creates a client for the Parley worker in a room. The caller must close the client. Resolves when a worker has
 * acknowledged the client, or at once if the room is not connected yet or `waitForAgentMs` is 0.
 *
 * @param room a `Room` of livekit-client or @livekit/rtc-node, or your own transport
 * @throws {AppError} `unavailable` when no worker answered in time
 * @throws {TypeError} for an unknown option or feature, or a language that is not a language tag
 */
export async function connect(
  room: LiveKitRoom | Transport,
  { waitForAgentMs = DEFAULT_WAIT_MS, ...options }: ConnectOptions = {},
): Promise<Parley> {
  refuseUnknownFields(options, Object.keys(OPTIONS), "connect's options");
  const known = workerFeatures();
  for (const feature of options.features ?? [])
    if (!known.includes(feature)) throw new TypeError(`"${feature}" is not a feature.${didYouMean(feature, known)}`);
  if (!isLanguageTag(options.language ?? "en"))
    throw new TypeError(`language: expected a BCP 47 tag such as en-GB, got "${String(options.language)}"`);
  const transport = toTransport(room);
  const parley = new Parley(transport, options);
  if (waitForAgentMs === 0 || !transport.isConnected) return parley;
  try {
    await parley.whenConnected(waitForAgentMs);
  } catch (error) {
    await parley.close();
    throw error;
  }
  return parley;
}
