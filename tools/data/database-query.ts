import { defineTool } from "parley";
import { z } from "zod";
import { queryDatabase } from "./_query-database.ts";
import { querySettings } from "./_query-settings.ts";

const noNul = (text: string) => !text.includes("\0");

export default defineTool({
  description:
    "Runs one read-only SQL query (PostgreSQL: SELECT, VALUES or TABLE, with WITH) and gives its rows, each a list " +
    "of values in the order of columns. Put values into params and refer to them as $1, $2 and so on. " +
    "Ask for few rows.",
  input: z.strictObject({
    sql: z.string().trim().min(1).max(10_000).refine(noNul, "must not contain NUL"),
    params: z
      .array(z.union([z.string().max(10_000).refine(noNul, "must not contain NUL"), z.number(), z.boolean(), z.null()]))
      .max(50)
      .default([]),
  }),
  settings: querySettings,
  needsSettings: true,
  readOnly: true,
  timeoutMs: 70_000,
  run: async (query, { settings, signal }) => await queryDatabase(query, settings, signal),
});
