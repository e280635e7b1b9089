import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import { type TestAgent } from "./agent.ts";

interface GuardedOptions {
  readonly voiceApproval?: boolean;
  readonly allowEditedInput?: boolean;
  readonly timeoutMs?: number;
}

/** A tool that writes nothing, after it was allowed to; `ran` are the paths it was run with. `broken` has no pattern. */
export function guardedTool(options: GuardedOptions = {}) {
  const ran: string[] = [];
  const tool = defineTool({
    description: "Writes a file.",
    input: z.object({ path: z.string().min(1) }),
    permission: {
      type: "edit",
      pattern: ({ path }) => (path === "broken" ? "" : path),
      title: ({ path }) => `Write ${path}`,
      metadata: ({ path }) => ({ folder: path.split("/")[0] ?? "" }),
    },
    ...options,
    run: ({ path }) => {
      ran.push(path);
      return `wrote ${path}`;
    },
  });
  return { tool, ran };
}

interface ToolResult {
  readonly type: string;
  readonly content?: string;
  readonly is_error?: boolean;
}

/** What the model was told of the tool uses of the step before its last request, in order. */
export function toolResults(agent: TestAgent): { readonly content: string | undefined; readonly isError: boolean }[] {
  const messages = agent.model.requests.at(-1)?.body["messages"] as { content: ToolResult[] }[];
  const last = messages.findLast(({ content }) => content.some(({ type }) => type === "tool_result"));
  return (last?.content ?? [])
    .filter(({ type }) => type === "tool_result")
    .map(({ content, is_error: isError = false }) => ({ content, isError }));
}
