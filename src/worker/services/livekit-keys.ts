import { randomBytes } from "node:crypto";
import { readOrCreateSecret } from "./secret-file.ts";

export interface LivekitKeys {
  readonly apiKey: string;
  readonly apiSecret: string;
}

/** The keys of the livekit-server that we start: made once for a data folder, so tokens outlive a restart. */
export async function loadLivekitKeys(path: string): Promise<LivekitKeys> {
  const stored = await readOrCreateSecret(path, () => {
    return JSON.stringify({
      apiKey: `dev${randomBytes(6).toString("hex")}`,
      apiSecret: randomBytes(32).toString("hex"),
    });
  });
  return JSON.parse(stored) as LivekitKeys;
}
