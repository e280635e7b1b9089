import { pino } from "pino";
import { type TelemetrySettings } from "../../src/telemetry/telemetry.ts";
import { describeError } from "../../src/worker/describe-error.ts";
import { parseEnvironment } from "../../src/worker/environment.ts";
import { activeTrace } from "../../src/worker/telemetry/active-trace.ts";
import { readOtelConfig } from "../../src/worker/telemetry/read-otel-config.ts";
import { startTelemetry } from "../../src/worker/telemetry/start-telemetry.ts";
import { TestAgent } from "../support/agent.ts";
import { OtlpReceiver } from "../support/otlp-receiver.ts";

interface WatchedTalkOptions extends NonNullable<Parameters<typeof TestAgent.start>[0]> {
  readonly env?: NodeJS.ProcessEnv;
  readonly settings?: Partial<TelemetrySettings>;
}

/** A session in a real room whose spans, metrics, events and log lines go to a real OTLP endpoint. */
export class WatchedTalk implements AsyncDisposable {
  readonly agent: TestAgent;
  readonly receiver: OtlpReceiver;
  /** What the log says, besides going out. */
  readonly lines: readonly string[];
  readonly #closeTelemetry: () => Promise<void>;

  private constructor(parts: Pick<WatchedTalk, "agent" | "receiver" | "lines">, closeTelemetry: () => Promise<void>) {
    this.agent = parts.agent;
    this.receiver = parts.receiver;
    this.lines = parts.lines;
    this.#closeTelemetry = closeTelemetry;
  }

  static async start({ env = {}, settings = {}, ...options }: WatchedTalkOptions = {}): Promise<WatchedTalk> {
    const receiver = await OtlpReceiver.start();
    process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = receiver.url;
    const otel = readOtelConfig(parseEnvironment({ ...env, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }));
    const watching = startTelemetry({ otel, settings: { agentName: "parley", ...settings } });
    watching.joinProcess();
    const lines: string[] = [];
    const stream = watching.logStream;
    const also = {
      write: (line: string) => {
        lines.push(line);
        stream?.write(line);
      },
    };
    const logger = pino({ level: "info", mixin: activeTrace, serializers: { error: describeError } }, also);
    const agent = await TestAgent.start({ ...options, logger, telemetry: watching.telemetry });
    return new WatchedTalk({ agent, receiver, lines }, watching.close);
  }

  /** Ends the session and sends what is left; the endpoint keeps what it got. */
  async end(): Promise<void> {
    await this.agent.leave();
    await this.#closeTelemetry();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.agent[Symbol.asyncDispose]();
    await this.#closeTelemetry();
    await this.receiver[Symbol.asyncDispose]();
    delete process.env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  }
}
