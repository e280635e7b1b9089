import { z } from "zod";

/**
 * How a server tool, one that Anthropic runs itself, is shown in GenAI messages (docs/telemetry-representation.md).
 *
 * - `server_tool_call`: parts of its own for call and response (Option 2), what OpenTelemetry adopted
 * - `tool_call`: the function tools' parts, with the tool's type inside (Option 1)
 * - `server_tool`, `server_tool_execution`: call and response in one part (Option 3, its two structures)
 */
export const representationSchema = z.enum(["server_tool_call", "tool_call", "server_tool", "server_tool_execution"]);

export type Representation = z.infer<typeof representationSchema>;
