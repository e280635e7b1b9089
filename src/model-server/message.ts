import type { Json } from "./step.ts";

/** A message as the API parses it. A plain string becomes one text block. */
export interface Message {
  readonly role: string;
  readonly content: readonly Json[];
}

export function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}
