import { useAgent } from "@parley/react";
import type { ReactNode } from "react";
import { useSwitches } from "../device/switches.ts";
import { PAGE_TOOLS } from "../device/page-tools.ts";
import { toVisible } from "../shared/exact-json.ts";
import { ExactText } from "../shared/exact-text.tsx";
import { toTitle } from "../tools/describe-call.ts";
import { useWords } from "../shared/words/words.ts";

interface ShownTool {
  readonly title: string;
  readonly hint: string;
  /** Who runs the tool. */
  readonly where: string;
}

/** The agent's tools, with where each of them runs. */
export function AgentTools(): ReactNode {
  const words = useWords();
  const { tools } = useAgent();
  const switches = useSwitches();
  const own = PAGE_TOOLS.filter((tool) => switches[tool]);
  const shown: readonly ShownTool[] = [
    ...tools.map(({ name, description, mcpServer }) => ({
      title: toTitle(name),
      hint: toVisible(firstSentenceOf(description)),
      where: mcpServer === undefined ? words.calls.onServer : words.calls.byMcpServer(toVisible(mcpServer)),
    })),
    ...own.map((tool) => ({ ...words.settings.tools[tool], where: words.calls.onThisDevice })),
  ];
  if (shown.length === 0) return null;
  return (
    <details className="agent-tools">
      <summary>{words.stage.whatCanItDo}</summary>
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
