import { z } from "zod";

/**
 * How GenAI messages show a server tool, which is one that Anthropic runs (docs/telemetry-representation.md).
 * - `server_tool_call`: separate parts for call and response (Option 2, which OpenTelemetry adopted)
 * - `tool_call`: the parts of function tools, with the tool's type inside (Option 1)
 * - `server_tool`, `server_tool_execution`: call and response in one part (the two structures of Option 3)
 */
export const representationSchema = z.enum(["server_tool_call", "tool_call", "server_tool", "server_tool_execution"]);

export type Representation = z.infer<typeof representationSchema>;
