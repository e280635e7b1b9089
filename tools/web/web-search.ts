import { defineTool } from "parley";
import { z } from "zod";
import { searchSettings } from "./_search-settings.ts";
import { searchWeb } from "./_search-web.ts";

export default defineTool({
  description: "Searches the web. Use it for facts that are recent or that you are not sure of.",
  input: z.strictObject({
    query: z.string().trim().min(1).max(400),
    limit: z.int().min(1).max(20).default(5).describe("How many results are wanted"),
  }),
  settings: searchSettings,
  needsSettings: true,
  readOnly: true,
  timeoutMs: 15_000,
  run: async (input, { settings, signal, traceHeaders }) => await searchWeb(input, settings, { signal, traceHeaders }),
});
