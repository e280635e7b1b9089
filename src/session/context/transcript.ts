import { contentText } from "../../conversation/content.ts";
import { authorOf, shownPart, type TurnRecord } from "../../conversation/turn-record.ts";
import { asText } from "../../lib/json.ts";

/** The maximum length of each message, argument list, result and answer. The rest would add nothing to a summary. */
const MAX_CHARACTERS = 1_500;

/**
 * Renders turns as plain text. The summary model could otherwise mistake messages in the turns for its task, and tool
 * uses for its own.
 */
export function flatten(turns: readonly TurnRecord[]): string {
  return turns.flatMap((turn) => [`Turn ${turn.position}`, ...linesOf(turn)]).join("\n");
}

function linesOf(turn: TurnRecord): string[] {
  const { input, blocks, heard } = turn;
  const sayer = authorOf(turn);
  const said = input.map((part) =>
    part.type === "text" ? `${JSON.stringify(sayer)} said: ${cut(part.text)}` : cut(shownPart(part)),
  );
  const done = blocks.flatMap(({ blockType, textContent, content }) => {
    switch (blockType) {
      case "text":
        return heard === undefined && textContent ? [`The assistant said: ${cut(textContent)}`] : [];
      case "tool_use":
        return [
          `Tool ${asText(content?.["tool_name"])} was called with ${cut(JSON.stringify(content?.["input"] ?? {}))}`,
        ];
      case "tool_result":
        return [`The tool gave: ${cut(contentText(content?.["content"]))}`];
      default:
        return [];
    }
  });
  return [...said, ...done, ...(heard === undefined ? [] : [`The assistant was interrupted after: ${cut(heard)}`])];
}

/** Truncates a string, and replaces line breaks and angle brackets, which could look like the end of the transcript. */
function cut(text: string): string {
  const flat = text.replaceAll(/\s+/gu, " ").replaceAll("<", "‹").replaceAll(">", "›").trim();
  return flat.length > MAX_CHARACTERS ? `${flat.slice(0, MAX_CHARACTERS).toWellFormed()}…` : flat;
}
