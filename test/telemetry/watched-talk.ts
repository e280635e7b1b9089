import type { Telemetry } from "../../src/telemetry/telemetry.ts";
import { TestAgent, type AgentOptions } from "../support/agent.ts";
import type { OtlpReceiver } from "../support/servers/otlp-receiver.ts";
import { Watching, type WatchingOptions } from "./watching.ts";

/** A session in a real room whose spans, metrics, events and log lines go to a real OTLP endpoint. */
export class WatchedTalk implements AsyncDisposable {
  readonly agent: TestAgent;
  readonly #watching: Watching;

  private constructor(agent: TestAgent, watching: Watching) {
    this.agent = agent;
    this.#watching = watching;
  }

  static async start({
    env = {},
    settings = {},
    ...options
  }: WatchingOptions & AgentOptions = {}): Promise<WatchedTalk> {
    const watching = await Watching.start({ env, settings });
    const { logger, telemetry } = watching;
    return new WatchedTalk(await TestAgent.start({ ...options, logger, telemetry }), watching);
  }

  get telemetry(): Telemetry {
    return this.#watching.telemetry;
  }

  get receiver(): OtlpReceiver {
    return this.#watching.receiver;
  }

  /** The log lines, which are exported as well. */
  get lines(): readonly string[] {
    return this.#watching.lines;
  }

  /** Sends the remaining telemetry while the session is still open. */
  async closeTelemetry(): Promise<void> {
    await this.#watching.close();
  }

  /** Ends the session and sends the remaining telemetry. The endpoint keeps what it received. */
  async end(): Promise<void> {
    await this.agent.leave();
    await this.#watching.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.agent[Symbol.asyncDispose]();
    await this.#watching[Symbol.asyncDispose]();
  }
}
