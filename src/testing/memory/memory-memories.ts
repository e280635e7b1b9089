import { createId } from "../../lib/id.ts";
import type { MemoryStore } from "../../session/memory/memory-store.ts";
import { MAX_MEMORIES, type Memory } from "../../store/memory/memories.ts";

/** Stores participants' memories in memory. */
export class MemoryMemories implements MemoryStore {
  readonly #of = new Map<string, readonly Memory[]>();

  readonly list: MemoryStore["list"] = async (identity) => this.#of.get(identity) ?? [];

  readonly add: MemoryStore["add"] = async (identity, text) => {
    const memories = this.#of.get(identity) ?? [];
    const same = memories.find((memory) => memory.text === text);
    if (same || memories.length >= MAX_MEMORIES) return same?.id;
    const memory = { id: createId(), text, createdAt: Date.now() };
    this.#of.set(identity, [...memories, memory]);
    return memory.id;
  };

  readonly delete: MemoryStore["delete"] = async (identity, memoryId) => {
    const memories = this.#of.get(identity) ?? [];
    const kept = memoryId === undefined ? [] : memories.filter(({ id }) => id !== memoryId);
    this.#of.set(identity, kept);
    return memories.length - kept.length;
  };
}
