import { nanoid } from "nanoid";

/** A new NanoID of 21 characters (126 bits), which nobody can guess. */
export function createId(): string {
  return nanoid();
}
