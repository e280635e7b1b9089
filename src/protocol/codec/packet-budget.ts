import { MESSAGE_LIMITS } from "../limits.ts";

/** How much of a packet's limits is left. Parts of one packet that are read separately share a budget. */
export class PacketBudget {
  values: number = MESSAGE_LIMITS.values;
  /** The different keys that were read so far. */
  keys: ReadonlySet<string> = new Set();
}
