import { addMemory, deleteMemories, listMemories, type Memory } from "../../store/memory/memories.ts";
import type { Sql } from "../../store/database/pool.ts";

/** Stores what participants asked the agent to remember. */
export interface MemoryStore {
  /** Returns an identity's memories, oldest first. */
  readonly list: (identity: string) => Promise<readonly Memory[]>;
  /** @returns the id of the memory, or of an equal one; `undefined` if the identity already has `MAX_MEMORIES` */
  readonly add: (identity: string, text: string) => Promise<string | undefined>;
  /** Deletes one of an identity's memories, or all of them if no id is passed. @returns how many were deleted */
  readonly delete: (identity: string, memoryId: string | undefined) => Promise<number>;
}

export function createMemoryStore(sql: Sql): MemoryStore {
  return {
    list: (identity) => listMemories(sql, { identity }),
    add: (identity, text) => addMemory(sql, { identity, text }),
    delete: (identity, memoryId) => deleteMemories(sql, { identity, memoryId }),
  };
}
