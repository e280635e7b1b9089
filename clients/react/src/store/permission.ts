import type { MessageBody } from "@parley/client";
import { parseFields } from "./tool-call.ts";

/** A question that waits for this participant. */
export interface Permission {
  readonly id: string;
  readonly sessionId: string;
  readonly type: string;
  readonly title: string;
  /** What the call would touch, and what `always` would allow from now on. */
  readonly patterns: readonly string[];
  readonly callId?: string;
  readonly toolName?: string;
  /** The exact arguments; absent when they are very long. */
  readonly input?: Readonly<Record<string, unknown>>;
  readonly allowsEditedInput: boolean;
  /** Unix ms by this device's clock; absent when it waits for ever. */
  readonly expiresAt?: number;
  /** Why the last response was not taken. */
  readonly problem?: string;
}

export function toPermission(request: MessageBody<"permission_request">, now: number): Permission {
  const { toolName, input, allowEditedInput, leftMs } = parseFields(request.metadataJson);
  return {
    id: request.id,
    sessionId: request.sessionId,
    type: request.type,
    title: request.title,
    patterns: request.pattern,
    allowsEditedInput: allowEditedInput === true,
    ...(request.callId !== undefined && { callId: request.callId }),
    ...(typeof toolName === "string" && { toolName }),
    ...(isObject(input) && { input }),
    // Not the worker's time, because its clock may differ: what counts is how much time was left.
    ...(typeof leftMs === "number" && { expiresAt: now + leftMs }),
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
