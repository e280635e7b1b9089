import { trace, type Context } from "@opentelemetry/api";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from "@opentelemetry/sdk-trace-node";
import type { OtelConfig } from "../otel-config.ts";

/**
 * Returns the sampler that `OTEL_TRACES_SAMPLER` selects. A turn joins the trace in a client's `traceparent`, but the
 * sampled flag there is ignored. Otherwise, any client could switch the operator's traces on or off.
 */
export function createSampler(config: OtelConfig["sampler"]): Sampler {
  const sampler = byName(config);
  return {
    shouldSample: (context: Context, ...rest) =>
      sampler.shouldSample(trace.getSpanContext(context)?.isRemote ? trace.deleteSpan(context) : context, ...rest),
    toString: () => sampler.toString(),
  };
}

function byName({ name, ratio }: OtelConfig["sampler"]): Sampler {
  switch (name) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return new TraceIdRatioBasedSampler(ratio);
    case "parentbased_always_on":
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case "parentbased_always_off":
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case "parentbased_traceidratio":
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}
