import { defineTool } from "parley";
import { z } from "zod";
import { isTimeZone, timeIn } from "./_time-in.ts";

const settings = z
  .strictObject({ defaultTimeZone: z.string().refine(isTimeZone, "must be an IANA time zone") })
  .optional();

export default defineTool({
  description: "The current date and time in a time zone. Use it whenever the answer depends on now or today.",
  input: z.strictObject({
    timeZone: z.string().optional().describe('IANA name such as "Europe/Berlin"; leave out for the default zone'),
  }),
  settings,
  readOnly: true,
  timeoutMs: 1_000,
  run: ({ timeZone }, context) => timeIn(timeZone ?? context.settings?.defaultTimeZone ?? "UTC", new Date()),
});
