import type { MessageBody } from "@parley/client";
import { parseFields } from "./tool-call.ts";

/** A permission request waiting for this participant. */
export interface Permission {
  readonly id: string;
  readonly sessionId: string;
  readonly type: string;
  readonly title: string;
  /** What the call would touch. The answer `always` allows calls with these patterns from now on. */
  readonly patterns: readonly string[];
  readonly callId?: string;
  readonly toolName?: string;
  /** The exact arguments. Absent if they are very long. */
  readonly input?: Readonly<Record<string, unknown>>;
  readonly allowsEditedInput: boolean;
  /** Unix ms by this device's clock. Absent if the request never expires. */
  readonly expiresAt?: number;
  /** Why the last response was rejected. */
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
    // Computed from the time that is left, because the worker's clock may differ from this device's.
    ...(typeof leftMs === "number" && { expiresAt: now + leftMs }),
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
