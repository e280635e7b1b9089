import { z } from "zod";

/**
 * Settings of database_query. The role in the URL should be used for nothing else, and should only be able to read what
 * the model may see.
 */
export const querySettings = z.strictObject({
  url: z.url({ protocol: /^postgres(ql)?$/ }),
  statementTimeoutMs: z.int().min(1).max(60_000).default(5_000),
  maxRows: z.int().min(1).max(1_000).default(100),
  maxBytes: z.int().min(1_000).max(1_000_000).default(100_000),
});

export type QuerySettings = z.infer<typeof querySettings>;
