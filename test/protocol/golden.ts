import { readFileSync, readdirSync } from "node:fs";
import type { JsonObject } from "../../src/lib/json.ts";
import type { OutgoingEnvelope } from "../../src/protocol/codec/codec.ts";
import type { Message, MessageType } from "../../src/protocol/messages/messages.ts";

const FOLDER = new URL("../fixtures/wire/", import.meta.url);

export interface Golden {
  readonly stanzaId: number;
  readonly conversationId: string;
  readonly meta: JsonObject;
  readonly type: MessageType;
  readonly body: Record<string, unknown>;
  readonly hex: string;
}

export const goldens: readonly Golden[] = readdirSync(FOLDER)
  .toSorted()
  .map((file) => JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as Golden);

export function toEnvelope({ stanzaId, conversationId, meta, type, body }: Golden): OutgoingEnvelope {
  return { stanzaId, conversationId, meta, message: { type, body } as Message };
}

export function toBytes(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex.replaceAll(/\s/g, ""), "hex"));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
