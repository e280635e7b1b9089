import type { Context, Span } from "@opentelemetry/api";
import type { PermissionRecord } from "../../store/permissions/load-permissions.ts";
import { PARLEY, SPAN } from "../../telemetry/names.ts";
import { quietly } from "../../telemetry/quietly.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";

/** The `parley.permission` spans: how long calls wait for an approver's answer. */
export class PermissionTraces {
  readonly #telemetry: Telemetry;
  readonly #open = new Map<string, { readonly span: Span; readonly startedAt: number }>();

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  ask({ id, participantIdentity }: PermissionRecord, call: Context | undefined): void {
    if (!call || this.#open.has(id)) return;
    const attributes = { [PARLEY.permissionId]: id, [PARLEY.participant]: participantIdentity };
    const span = this.#telemetry.tracer.startSpan(SPAN.permission, { attributes }, call);
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
    this.#telemetry.instruments.permissionWait.record(seconds, { [PARLEY.permissionState]: state });
  }
}
