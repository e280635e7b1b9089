import { type Attributes } from "@opentelemetry/api";
import { type ModelRequest } from "../../llm/build-request.ts";
import { ATTR, type Convention } from "../../telemetry/names.ts";

/** What a model call was asked with, as far as it was asked at all. */
export function requestAttributes({ max_tokens, output_config }: ModelRequest, convention: Convention): Attributes {
  const effort = output_config?.effort;
  return {
    [ATTR.requestStream]: true,
    [ATTR.outputType]: "text",
    [ATTR.requestMaxTokens]: max_tokens,
    ...(convention === "latest" && typeof effort === "string" && { [ATTR.reasoningLevel]: effort }),
  };
}
