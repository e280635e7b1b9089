import { z } from "zod";

const point = { attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])) };
const descriptor = { name: z.string(), unit: z.string(), description: z.string() };

const numberMetric = z.object({
  ...descriptor,
  /** `sum` holds what came since the last time; `level` the value now. */
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

/** What a job process hands in: what it has measured since the last time. */
export const pushedMetricsSchema = z.object({
  source: z.string(),
  metrics: z.array(z.discriminatedUnion("kind", [numberMetric, histogramMetric])),
});

export type PushedMetrics = z.infer<typeof pushedMetricsSchema>;
export type PushedMetric = PushedMetrics["metrics"][number];
export type PushedHistogram = z.infer<typeof histogramMetric>["points"][number]["value"];
