import type { Span } from "@opentelemetry/api";
import type { PermissionRecord } from "../../store/permissions/load-permissions.ts";
import { PARLEY, SPAN } from "../../telemetry/names.ts";
import { quietly } from "../../telemetry/quietly.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import type { CallTrace } from "./call-trace.ts";

/** The `parley.permission` spans, which show how long calls wait for an approver's answer. */
export class PermissionTraces {
  readonly #instruments: Telemetry["instruments"];
  readonly #open = new Map<string, { readonly span: Span; readonly startedAt: number }>();

  constructor({ instruments }: Telemetry) {
    this.#instruments = instruments;
  }

  ask({ id, callId, participantIdentity }: PermissionRecord, call: CallTrace | undefined): void {
    if (!call || this.#open.has(id)) return;
    const attributes = {
      [PARLEY.permissionId]: id,
      [PARLEY.callId]: callId,
      [PARLEY.participant]: participantIdentity,
    };
    const span = call.tracer.startSpan(SPAN.permission, { attributes }, call.context);
    this.#open.set(id, { span, startedAt: performance.now() });
  }

  reply({ id, state, repliedVia }: PermissionRecord): void {
    const asked = this.#open.get(id);
    if (!asked) return;
    this.#open.delete(id);
    asked.span.setAttribute(PARLEY.permissionState, state);
    if (repliedVia !== null) asked.span.setAttribute(PARLEY.permissionVia, repliedVia);
    quietly(() => asked.span.end());
    const seconds = (performance.now() - asked.startedAt) / 1_000;
    this.#instruments.permissionWait.record(seconds, { [PARLEY.permissionState]: state });
  }
}
