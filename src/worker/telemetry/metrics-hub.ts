import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type Attributes, type HrTime, ValueType } from "@opentelemetry/api";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { emptyResource } from "@opentelemetry/resources";
import { AggregationTemporality, DataPointType, type MetricData } from "@opentelemetry/sdk-metrics";
import type { Service } from "../services/service.ts";
import { type PushedHistogram, type PushedMetric, pushedMetricsSchema } from "./push-exporter.ts";

/** The environment variable through which job processes inherit the hub's URL. */
export const METRICS_HUB = "PARLEY_METRICS_HUB";
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export interface MetricsHub extends Service {
  /** The address to which processes post their measurements. Its random path keeps other programs out. */
  readonly url: string;
  /** Returns all measurements in Prometheus' text format. */
  readonly render: () => string;
}

/**
 * Opens the hub in the main process. All processes, including the main process, post their measurements to it over
 * HTTP, on a free loopback port.
 */
export async function openMetricsHub(): Promise<MetricsHub> {
  const total = new MetricsTotal();
  const path = `/${randomBytes(24).toString("hex")}`;
  const server = createServer((request, response) => {
    const answer = (status: number) => response.writeHead(status, { connection: "close" }).end();
    if (request.method !== "POST" || !isSame(request.url ?? "", path)) {
      answer(404);
      return;
    }
    void read(request).then(
      (body) => answer(total.add(body) ? 204 : 400),
      () => answer(400),
    );
  });
  server.unref();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    render: () => total.render(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

async function read(request: IncomingMessage): Promise<unknown> {
  if (Number(request.headers["content-length"] ?? Infinity) > MAX_BODY_BYTES) throw new RangeError("Too large");
  return await json(request);
}

/** How long a process may send nothing before it counts as gone. Its levels are then dropped; its sums are kept. */
const GONE_AFTER_MS = 15_000;
const NO_TIME: HrTime = [0, 0];

interface Series {
  readonly attributes: Attributes;
  /** The sum over all processes. `histogram` adds up all processes too. */
  sum: number;
  histogram: PushedHistogram | undefined;
  /** The latest value of each process, by its `source`. */
  readonly levels: Map<string, number>;
}

interface Metric extends Pick<PushedMetric, "name" | "unit" | "description" | "kind"> {
  readonly series: Map<string, Series>;
}

/** Adds up the measurements of all processes, including those that have ended. */
export class MetricsTotal {
  readonly #metrics = new Map<string, Metric>();
  readonly #receivedAt = new Map<string, number>();
  readonly #serializer = new PrometheusSerializer("", false, undefined, true, true);

  /** Returns `false`, and adds nothing, if the body does not match `pushedMetricsSchema`. */
  add(body: unknown): boolean {
    const pushed = pushedMetricsSchema.safeParse(body);
    if (!pushed.success) return false;
    const { source, metrics } = pushed.data;
    this.#receivedAt.set(source, performance.now());
    for (const metric of metrics) this.#addMetric(source, metric);
    return true;
  }

  /** Returns all measurements in Prometheus' text format. */
  render(): string {
    this.#forgetTheGone();
    const metrics = [...this.#metrics.values()].map(toMetricData);
    return this.#serializer.serialize({
      resource: emptyResource(),
      scopeMetrics: [{ scope: { name: "parley" }, metrics }],
    });
  }

  #addMetric(source: string, { points, ...metric }: PushedMetric): void {
    const known = this.#metrics.get(metric.name) ?? { ...metric, series: new Map<string, Series>() };
    this.#metrics.set(metric.name, known);
    for (const { attributes, value } of points) {
      const key = JSON.stringify(Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1)));
      const series = known.series.get(key) ?? { attributes, sum: 0, histogram: undefined, levels: new Map() };
      known.series.set(key, series);
      if (typeof value === "object") series.histogram = addHistogram(series.histogram, value);
      else if (known.kind === "level") series.levels.set(source, value);
      else series.sum += value;
    }
  }

  #forgetTheGone(): void {
    const now = performance.now();
    for (const [source, receivedAt] of this.#receivedAt) {
      if (now - receivedAt < GONE_AFTER_MS) continue;
      this.#receivedAt.delete(source);
      for (const { series } of this.#metrics.values()) for (const each of series.values()) each.levels.delete(source);
    }
  }
}

function addHistogram(before: PushedHistogram | undefined, more: PushedHistogram): PushedHistogram {
  if (!before) return more;
  return {
    boundaries: before.boundaries,
    counts: before.counts.map((count, bucket) => count + (more.counts[bucket] ?? 0)),
    sum: before.sum + more.sum,
    count: before.count + more.count,
  };
}

function toMetricData({ name, unit, description, kind, series }: Metric): MetricData {
  const descriptor = { name, unit, description, valueType: ValueType.DOUBLE };
  const base = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  const all = [...series.values()];
  const points = <Value>(valueOf: (each: Series) => Value) =>
    all.map((each) => ({ startTime: NO_TIME, endTime: NO_TIME, attributes: each.attributes, value: valueOf(each) }));
  if (kind === "histogram")
    return {
      ...base,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: points(({ histogram }) => toHistogram(histogram)),
    };
  if (kind === "sum")
    return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points(({ sum }) => sum) };
  const now = points(({ levels }) => [...levels.values()].reduce((sum, level) => sum + level, 0));
  return { ...base, dataPointType: DataPointType.GAUGE, dataPoints: now };
}

function toHistogram(
  { boundaries, counts, sum, count }: PushedHistogram = { boundaries: [], counts: [], sum: 0, count: 0 },
) {
  return { buckets: { boundaries, counts }, sum, count };
}
