import { defineTool } from "parley";
import { z } from "zod";

/**
 * This tool is only declared here. The participant's own client reads the file, within the folder that the participant
 * shares.
 */
export default defineTool({
  description: "Reads a text file on the participant's own device. Answers with its content and its size in bytes.",
  input: z.strictObject({ filePath: z.string().min(1).max(4_096).describe("Path of the file on that device") }),
  execution: "client",
  readOnly: true,
  timeoutMs: 5_000,
});
