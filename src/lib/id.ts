import { nanoid } from "nanoid";

/** Returns a new NanoID of 21 characters (126 bits), which cannot be guessed. */
export function createId(): string {
  return nanoid();
}
