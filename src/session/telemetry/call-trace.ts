import { SpanKind, SpanStatusCode, trace, type Attributes, type Context, type Span } from "@opentelemetry/api";
import type { Call } from "../../conversation/call.ts";
import { callErrorType } from "../../telemetry/labels.ts";
import { ATTR, CONTENT, OPERATION, PARLEY, SPAN } from "../../telemetry/names.ts";
import { quietly } from "../../telemetry/quietly.ts";
import { capturesSpans, type Telemetry } from "../../telemetry/telemetry.ts";

export interface CallOptions {
  readonly parent: Context;
  /** The tool's description as the model saw it. */
  readonly description: string | undefined;
  /** The tool's name in metrics. */
  readonly label: string;
}

/** The `execute_tool` span of one call, with the claim window as its child span. Ends when the call does. */
export class CallTrace {
  readonly context: Context;
  readonly #telemetry: Telemetry;
  readonly #span: Span;
  readonly #startedAt = performance.now();
  readonly #label: string;
  #claim: Span | undefined;
  #current: Call;
  /** Whether the call changed after its turn had ended. */
  isLate = false;

  constructor(telemetry: Telemetry, call: Call, { parent, description, label }: CallOptions) {
    this.#telemetry = telemetry;
    this.#current = call;
    this.#label = label;
    // A client tool's description is the client's own text, so it counts as content.
    const isShown = description !== undefined && (call.executionAsked === "server" || capturesSpans(telemetry));
    const attributes: Attributes = {
      [ATTR.operation]: OPERATION.executeTool,
      [ATTR.toolName]: call.toolName,
      [ATTR.toolType]: "function",
      [ATTR.toolCallId]: call.toolUseId,
      ...(isShown && { [ATTR.toolDescription]: description }),
      ...(telemetry.convention === "latest" && { [ATTR.agentName]: telemetry.agentName }),
      [PARLEY.callId]: call.id,
      [PARLEY.executionAsked]: call.executionAsked,
    };
    const name = `${OPERATION.executeTool} ${call.toolName}`;
    this.#span = telemetry.tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes }, parent);
    this.context = trace.setSpan(parent, this.#span);
    telemetry.instruments.openCalls.add(1);
    if (capturesSpans(telemetry) && this.#span.isRecording())
      this.#span.setAttribute(CONTENT.callArguments, JSON.stringify(call.input));
  }

  /** The tracer of the call's turn, which may have ended. */
  get tracer(): Telemetry["tracer"] {
    return this.#telemetry.tracer;
  }

  get addressee(): string | undefined {
    return this.#current.addressee;
  }

  /** Links the span that the client created for the call. */
  link(context: Parameters<Span["addLink"]>[0]["context"]): void {
    this.#span.addLink({ context });
  }

  /** Updates the span, and ends it once the call has ended. */
  update(call: Call): void {
    const { addressee, executionAsked, executionResolved, outcome } = call;
    this.#current = call;
    const isClaimable = executionAsked === "either" && addressee !== undefined && executionResolved === undefined;
    if (isClaimable && !outcome) {
      const attributes = { [PARLEY.callId]: call.id, [PARLEY.participant]: addressee };
      this.#claim ??= this.#telemetry.tracer.startSpan(SPAN.claim, { attributes }, this.context);
    } else {
      this.#claim?.setAttribute(PARLEY.claimEnd, executionResolved ?? "over");
      this.#claim?.end();
      this.#claim = undefined;
    }
    if (outcome) this.#end(call);
  }

  #end({ outcome, executionResolved, addressee }: Call): void {
    if (!outcome) return;
    const resolved = executionResolved ?? "none";
    const { instruments } = this.#telemetry;
    const failure: Attributes =
      outcome.state === "success" ? {} : { [ATTR.errorType]: callErrorType(outcome.errorCode) };
    this.#span.setAttributes({
      ...failure,
      [PARLEY.executionResolved]: resolved,
      [PARLEY.outcome]: outcome.state,
      [PARLEY.late]: this.isLate,
      ...(addressee !== undefined && { [PARLEY.participant]: addressee }),
    });
    if (outcome.state === "error") this.#span.setStatus({ code: SpanStatusCode.ERROR });
    if (capturesSpans(this.#telemetry) && this.#span.isRecording())
      this.#span.setAttribute(CONTENT.callResult, JSON.stringify(outcome));
    quietly(() => this.#span.end());
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    instruments.executeToolDuration.record(seconds, { [ATTR.toolName]: this.#label, ...failure });
    instruments.calls.add(1, {
      [PARLEY.executionResolved]: resolved,
      [PARLEY.outcome]: outcome.state,
      ...failure,
    });
    instruments.openCalls.add(-1);
  }
}
