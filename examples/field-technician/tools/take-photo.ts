import { defineTool } from "parley";
import { z } from "zod";

export default defineTool({
  description:
    "Opens the camera of the technician's phone, which the technician points at the part. Gives what the phone's own " +
    "recognition reads in the picture, and the picture's id for the report.",
  input: z.strictObject({ of: z.string().min(1).max(200).describe("What is to be seen, for the technician") }),
  execution: "client",
  readOnly: true,
  // The technician may have to climb down first.
  timeoutMs: 120_000,
  noticeAfterMs: 60_000,
  permission: { type: "device", pattern: () => "camera", title: ({ of }) => `Take a photo of ${of}` },
});
