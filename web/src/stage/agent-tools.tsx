import { useAgent } from "@parley/react";
import type { ReactNode } from "react";
import { useSwitches } from "../device/switches.ts";
import { TOOL_TITLES } from "../device/tool-titles.ts";
import { toVisible } from "../shared/exact-json.ts";
import { ExactText } from "../shared/exact-text.tsx";
import { toTitle } from "../tools/describe-call.ts";

interface ShownTool {
  readonly title: string;
  readonly hint: string;
  /** Who runs the tool. */
  readonly where: string;
}

/** The agent's tools, with where each of them runs. */
export function AgentTools(): ReactNode {
  const { tools } = useAgent();
  const switches = useSwitches();
  const own = TOOL_TITLES.filter(([tool]) => switches[tool]);
  const shown: readonly ShownTool[] = [
    ...tools.map(({ name, description, mcpServer }) => ({
      title: toTitle(name),
      hint: toVisible(firstSentenceOf(description)),
      where: mcpServer === undefined ? "on the server" : `by MCP server ${toVisible(mcpServer)}`,
    })),
    ...own.map(([, title, hint]) => ({ title, hint, where: "on this device" })),
  ];
  if (shown.length === 0) return null;
  return (
    <details className="agent-tools">
      <summary>What can it do?</summary>
      <ul>
        {shown.map(({ title, hint, where }) => (
          <li key={`${where} ${title}`}>
            <ExactText>{title}</ExactText> <small className="tool-where">{where}</small>
            <small dir="auto">{hint}</small>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** A tool's description is written for the model, and its first sentence says what the tool does. */
function firstSentenceOf(description: string): string {
  return /^.*?[.!?](?=\s|$)/su.exec(description)?.[0] ?? description;
}
