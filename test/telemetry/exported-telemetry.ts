import { pino, type Logger } from "pino";
import type { Telemetry, TelemetrySettings } from "../../src/telemetry/telemetry.ts";
import { describeError } from "../../src/worker/logger.ts";
import { parseEnvironment } from "../../src/worker/settings/environment.ts";
import { activeTrace } from "../../src/telemetry/trace-context.ts";
import { readOtelConfig } from "../../src/worker/settings/load-config.ts";
import { startTelemetry } from "../../src/worker/telemetry/start-telemetry.ts";
import { OtlpReceiver } from "../support/servers/otlp-receiver.ts";

export interface TelemetryOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly settings?: Partial<TelemetrySettings>;
}

/** The telemetry of this process, started as in a job process, together with the OTLP endpoint that receives it. */
export class ExportedTelemetry implements AsyncDisposable {
  readonly receiver: OtlpReceiver;
  readonly telemetry: Telemetry;
  readonly logger: Logger;
  /** The log lines, which are exported as well. */
  readonly lines: string[] = [];
  /** Sends the telemetry that was not exported yet. The endpoint keeps everything that it has received. */
  readonly close: () => Promise<void>;

  private constructor(receiver: OtlpReceiver, { env = {}, settings = {} }: TelemetryOptions) {
    this.receiver = receiver;
    process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = receiver.url;
    const otel = readOtelConfig(parseEnvironment({ ...env, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }));
    const { telemetry, close, joinProcess, logStream } = startTelemetry({
      otel,
      settings: { agentName: "parley", ...settings },
    });
    joinProcess();
    this.telemetry = telemetry;
    this.close = close;
    const write = (line: string) => {
      this.lines.push(line);
      logStream?.write(line);
    };
    this.logger = pino({ level: "info", mixin: activeTrace, serializers: { error: describeError } }, { write });
  }

  static async start(options: TelemetryOptions = {}): Promise<ExportedTelemetry> {
    return new ExportedTelemetry(await OtlpReceiver.start(), options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    await this.receiver[Symbol.asyncDispose]();
    delete process.env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  }
}
