import { defineTool } from "parley";
import { z } from "zod";

export default defineTool({
  description: "Says where the technician's phone is: latitude, longitude and how exact that is in metres.",
  input: z.strictObject({}),
  execution: "client",
  readOnly: true,
  onDuplicate: "reuse",
  timeoutMs: 15_000,
  filler: "I look where you are.",
  permission: { type: "device", pattern: () => "location", title: () => "Share where this phone is" },
});
