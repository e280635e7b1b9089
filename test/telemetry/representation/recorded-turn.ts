import { toolResultBlock } from "../../../src/conversation/block.ts";
import type { HistoryBlock } from "../../../src/conversation/history.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { toStoredBlock } from "../../../src/llm/to-stored-block.ts";

const result = (id: string, content: string, isError = false) => toolResultBlock(id, { content, isError });
const serverUse = (id: string, name: string, input: JsonObject): JsonObject => ({
  type: "server_tool_use",
  id,
  name,
  input,
  caller: { type: "direct" },
});

/**
 * A turn with blocks of every kind, as the API sends them and the worker stores them. Results do not directly follow
 * their calls. The call `srv_fetch` never received a result, and `srv_lost` is a result whose call is gone.
 */
export const recordedTurn: readonly HistoryBlock[] = [
  toStoredBlock({ type: "thinking", thinking: "Two searches.", signature: "sig_1" }),
  toStoredBlock({ type: "redacted_thinking", data: "EmwKAhgB" }),
  toStoredBlock({ type: "text", text: "Let me see." }),
  toStoredBlock(serverUse("srv_search", "web_search", { query: "Zurich" })),
  toStoredBlock(serverUse("srv_code", "code_execution", { code: "print(2+2)" })),
  toStoredBlock({
    type: "code_execution_tool_result",
    tool_use_id: "srv_code",
    content: { type: "code_execution_result", stdout: "4\n", stderr: "", return_code: 0, content: [] },
  }),
  toStoredBlock({
    type: "web_search_tool_result",
    tool_use_id: "srv_search",
    content: [{ type: "web_search_result", title: "Zurich", url: "https://example.com/zurich" }],
  }),
  toStoredBlock({ type: "mcp_tool_use", id: "mcp_1", name: "echo", server_name: "files", input: { text: "hi" } }),
  toStoredBlock({
    type: "mcp_tool_result",
    tool_use_id: "mcp_1",
    is_error: true,
    content: [{ type: "text", text: "no such file" }],
  }),
  toStoredBlock(serverUse("srv_fetch", "web_fetch", { url: "https://example.com" })),
  toStoredBlock(serverUse("srv_new", "teleport", { to: "Mars" })),
  toStoredBlock({ type: "teleport_tool_result", tool_use_id: "srv_new", content: { arrived: true } }),
  toStoredBlock({
    type: "web_search_tool_result",
    tool_use_id: "srv_lost",
    content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" },
  }),
  toStoredBlock({ type: "hologram", frames: 3 }),
  toStoredBlock({ type: "tool_use", id: "toolu_add", name: "add", input: { a: 1, b: 2 } }),
  toStoredBlock({ type: "tool_use", id: "toolu_notify", name: "show_notification", input: { message: "hi" } }),
  result("toolu_notify", "client_disconnected", true),
  result("toolu_add", '{"sum":3}'),
  toStoredBlock({ type: "text", text: "It is 3." }),
];
