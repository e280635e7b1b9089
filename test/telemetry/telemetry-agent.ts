import type { Telemetry } from "../../src/telemetry/telemetry.ts";
import { TestAgent, type AgentOptions } from "../support/agent.ts";
import type { OtlpReceiver } from "../support/servers/otlp-receiver.ts";
import { ExportedTelemetry, type TelemetryOptions } from "./exported-telemetry.ts";

/** A session in a real room whose spans, metrics, events and log lines go to a real OTLP endpoint. */
export class TelemetryAgent implements AsyncDisposable {
  readonly agent: TestAgent;
  readonly #exported: ExportedTelemetry;

  private constructor(agent: TestAgent, exported: ExportedTelemetry) {
    this.agent = agent;
    this.#exported = exported;
  }

  static async start({
    env = {},
    settings = {},
    ...options
  }: TelemetryOptions & AgentOptions = {}): Promise<TelemetryAgent> {
    const exported = await ExportedTelemetry.start({ env, settings });
    const { logger, telemetry } = exported;
    return new TelemetryAgent(await TestAgent.start({ ...options, logger, telemetry }), exported);
  }

  get telemetry(): Telemetry {
    return this.#exported.telemetry;
  }

  get receiver(): OtlpReceiver {
    return this.#exported.receiver;
  }

  /** The log lines, which are exported as well. */
  get lines(): readonly string[] {
    return this.#exported.lines;
  }

  /** Exports the remaining telemetry while the session is still open. */
  async closeTelemetry(): Promise<void> {
    await this.#exported.close();
  }

  /** Ends the session and exports the remaining telemetry. The endpoint keeps everything that it has received. */
  async end(): Promise<void> {
    await this.agent.leave();
    await this.#exported.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.agent[Symbol.asyncDispose]();
    await this.#exported[Symbol.asyncDispose]();
  }
}
