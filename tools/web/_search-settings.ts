import { z } from "zod";

const apiKey = z.string().min(1);
const baseUrl = z.url({ protocol: /^https?$/ });

/** Settings of web_search. The operator chooses `baseUrl`, so it may be a private address. */
export const searchSettings = z.discriminatedUnion("provider", [
  z.strictObject({ provider: z.literal("brave"), apiKey, baseUrl: baseUrl.optional() }),
  z.strictObject({ provider: z.literal("tavily"), apiKey, baseUrl: baseUrl.optional() }),
  z.strictObject({ provider: z.literal("searxng"), baseUrl, apiKey: apiKey.optional() }),
]);

export type SearchSettings = z.infer<typeof searchSettings>;
