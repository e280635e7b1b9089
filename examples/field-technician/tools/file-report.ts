import { appendFile } from "node:fs/promises";
import { defineTool } from "parley";
import { z } from "zod";

export default defineTool({
  description: "Files the report of this visit. An urgent one calls out the standby team.",
  input: z.strictObject({
    priority: z.enum(["routine", "urgent"]),
    text: z.string().min(1).max(2_000),
    photos: z.array(z.string().max(100)).max(20).default([]),
  }),
  settings: z.strictObject({ file: z.string().min(1) }),
  needsSettings: true,
  timeoutMs: 5_000,
  permission: {
    type: "report",
    pattern: ({ priority }) => priority,
    title: ({ priority }) => (priority === "urgent" ? "Call out the standby team" : "File the report"),
  },
  // In your own project, send the report to your company's system. Pass the key, so that the same report is not filed
  // twice.
  run: async (report, { settings, idempotencyKey, participant }) => {
    const number = idempotencyKey.slice(0, 8);
    await appendFile(settings.file, `${JSON.stringify({ number, by: participant, ...report })}\n`);
    return { number };
  },
});
