import { randomUUID } from "node:crypto";
import {
  AggregationTemporality,
  DataPointType,
  InstrumentType,
  type MetricData,
  type PushMetricExporter,
  type ResourceMetrics,
} from "@opentelemetry/sdk-metrics";
import { z } from "zod";

type Done = Parameters<PushMetricExporter["export"]>[1];

const TIME_LIMIT_MS = 1_000;
const LEVELS: ReadonlySet<InstrumentType> = new Set([
  InstrumentType.UP_DOWN_COUNTER,
  InstrumentType.OBSERVABLE_UP_DOWN_COUNTER,
  InstrumentType.GAUGE,
  InstrumentType.OBSERVABLE_GAUGE,
]);

/** Posts this process's measurements to the hub in the main process. Measurements that cannot be delivered are lost. */
export function createPushExporter(url: string): PushMetricExporter {
  const source = randomUUID();
  let last: Promise<void> = Promise.resolve();
  return {
    selectAggregationTemporality: (type) =>
      LEVELS.has(type) ? AggregationTemporality.CUMULATIVE : AggregationTemporality.DELTA,
    export: (metrics, done) => {
      last = push(url, { source, metrics: toPushed(metrics) }, done);
    },
    forceFlush: () => last,
    shutdown: () => last,
  };
}

async function push(url: string, body: PushedMetrics, done: Done): Promise<void> {
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  try {
    const response = await fetch(url, { method: "POST", body: JSON.stringify(body), signal });
    done({ code: response.ok ? 0 : 1 });
  } catch {
    done({ code: 1 });
  }
}

function toPushed({ scopeMetrics }: ResourceMetrics): PushedMetric[] {
  return scopeMetrics.flatMap(({ metrics }) => metrics.flatMap(toPushedMetric));
}

function toPushedMetric(metric: MetricData): PushedMetric[] {
  const { name, unit, description } = metric.descriptor;
  const attributesOf = (attributes: object) => attributes as PushedMetric["points"][number]["attributes"];
  switch (metric.dataPointType) {
    case DataPointType.HISTOGRAM: {
      const points = metric.dataPoints.map(({ attributes, value: { buckets, sum = 0, count } }) => ({
        attributes: attributesOf(attributes),
        value: { ...buckets, sum, count },
      }));
      return [{ name, unit, description, kind: "histogram", points }];
    }
    case DataPointType.SUM:
    case DataPointType.GAUGE: {
      const isSum = metric.dataPointType === DataPointType.SUM && metric.isMonotonic;
      const points = metric.dataPoints.map(({ attributes, value }) => ({
        attributes: attributesOf(attributes),
        value,
      }));
      return [{ name, unit, description, kind: isSum ? "sum" : "level", points }];
    }
    case DataPointType.EXPONENTIAL_HISTOGRAM:
      return [];
  }
}

const point = { attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])) };
const descriptor = { name: z.string(), unit: z.string(), description: z.string() };

const numberMetric = z.object({
  ...descriptor,
  /** `sum`: the amount added since the last push. `level`: the current value. */
  kind: z.enum(["sum", "level"]),
  points: z.array(z.object({ ...point, value: z.number() })),
});

const histogramMetric = z.object({
  ...descriptor,
  kind: z.literal("histogram"),
  points: z.array(
    z.object({
      ...point,
      value: z.object({
        boundaries: z.array(z.number()),
        counts: z.array(z.number()),
        sum: z.number(),
        count: z.number(),
      }),
    }),
  ),
});

/** The measurements of a process since its last push. */
export const pushedMetricsSchema = z.object({
  source: z.string(),
  metrics: z.array(z.discriminatedUnion("kind", [numberMetric, histogramMetric])),
});

type PushedMetrics = z.infer<typeof pushedMetricsSchema>;
export type PushedMetric = PushedMetrics["metrics"][number];
export type PushedHistogram = z.infer<typeof histogramMetric>["points"][number]["value"];
