import { addMemory, deleteMemories, listMemories, type Memory } from "../../store/memory/memories.ts";
import type { Sql } from "../../store/database/pool.ts";

/** Where it is kept what participants have asked to be remembered. */
export interface MemoryStore {
  /** An identity's memories, the oldest first. */
  readonly list: (identity: string) => Promise<readonly Memory[]>;
  /** @returns the id of the memory, or of one with the same text; `undefined` when the identity has `MAX_MEMORIES` */
  readonly add: (identity: string, text: string) => Promise<string | undefined>;
  /** Deletes one of an identity's memories; without an id, all of them. @returns how many were deleted */
  readonly delete: (identity: string, memoryId: string | undefined) => Promise<number>;
}

export function createMemoryStore(sql: Sql): MemoryStore {
  return {
    list: (identity) => listMemories(sql, { identity }),
    add: (identity, text) => addMemory(sql, { identity, text }),
    delete: (identity, memoryId) => deleteMemories(sql, { identity, memoryId }),
  };
}
