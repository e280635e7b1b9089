import { createHash } from "node:crypto";
import type { Json } from "./step.ts";

const LOOKBACK = 20;

interface Position {
  readonly hash: string;
  readonly tokens: number;
  readonly isBreakpoint: boolean;
}

/**
 * Prompt caching as documented: written at breakpoints, and read from the longest prefix that ends at most 20 positions
 * before a breakpoint.
 */
export class PromptCache {
  readonly #written = new Set<string>();

  /** Adds a request to the cache and returns its `usage` numbers. Four characters count as one token. */
  charge(body: Json): Json {
    const positions = toPositions(body);
    const breakpoints = positions.flatMap(({ isBreakpoint }, index) => (isBreakpoint ? [index] : []));
    const isHit = (index: number) => this.#written.has(positions[index]?.hash ?? "");
    const hits = breakpoints.flatMap((at) =>
      Array.from({ length: LOOKBACK + 1 }, (_, back) => at - back).filter(isHit),
    );
    const tokensUpTo = (index: number | undefined) => (index === undefined ? 0 : (positions[index]?.tokens ?? 0));
    const total = positions.at(-1)?.tokens ?? 0;
    const read = tokensUpTo(hits.length > 0 ? Math.max(...hits) : undefined);
    const cached = Math.max(tokensUpTo(breakpoints.at(-1)), read);
    for (const at of breakpoints) this.#written.add(positions[at]?.hash ?? "");
    return { input_tokens: total - cached, cache_read_input_tokens: read, cache_creation_input_tokens: cached - read };
  }
}

/** Returns the number of tokens in a prompt. Four characters count as one token. */
export function tokensOf(body: Json): number {
  return toPositions(body).at(-1)?.tokens ?? 0;
}

/** Returns every tool, system text and content block in the API's order, each with the hash of everything up to it. */
function toPositions(body: Json): Position[] {
  const listOf = (value: unknown): Json[] =>
    typeof value === "string" ? [{ type: "text", text: value }] : Array.isArray(value) ? (value as Json[]) : [];
  const tools = listOf(body["tools"]);
  const system = listOf(body["system"]);
  const messages = listOf(body["messages"]).flatMap(({ role, content }) =>
    listOf(content).map((block) => ({ role, ...block })),
  );
  const settings = JSON.stringify([body["tool_choice"], body["thinking"]]);
  let hash = JSON.stringify(body["model"]);
  let tokens = 0;
  return [...tools, ...system, ...messages].map((item: Json, index) => {
    const { cache_control: mark, ...rest } = item;
    const serialized = JSON.stringify(rest);
    // Changed settings invalidate the cache of messages, but not that of tools and system texts.
    const salt = index === tools.length + system.length ? settings : "";
    hash = createHash("sha256").update(hash).update(salt).update(serialized).digest("hex");
    tokens += Math.ceil(serialized.length / 4);
    return { hash, tokens, isBreakpoint: mark !== undefined && mark !== null };
  });
}
