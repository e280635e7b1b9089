import { nanoid } from "nanoid";

/** A new NanoID (21 characters, 126 bits): unguessable, so it also works as a capability. */
export function createId(): string {
  return nanoid();
}
