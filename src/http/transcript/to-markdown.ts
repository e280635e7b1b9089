import type { JsonValue } from "../../lib/json.ts";
import type { SpokenText, SpokenTool, SpokenTurn } from "../../conversation/spoken-turn.ts";
import type { SessionRecord } from "../../store/sessions/sessions.ts";

/** The length to which code spans, such as a tool's input and result, are cut. The JSON form contains more. */
const MAX_CHARACTERS = 500;

export function markdownHead({ id, room, conversationId, createdAt }: SessionRecord): string {
  return `# Transcript of ${code(room ?? conversationId)}\n\nSession ${code(id)}, begun ${timeOf(createdAt)}.\n`;
}

/**
 * Formats a turn. Names are outside of block quotes and messages inside them, so that no message can impersonate
 * another participant.
 */
export function markdownTurn({ participant, said, answer, at, heard, isReplaced, ...turn }: SpokenTurn): string {
  const { saidBy = participant } = turn;
  const replaced = isReplaced ? ", replaced by a later turn" : "";
  const opening = [
    `## ${timeOf(at)}${replaced}`,
    ...(said === undefined ? [] : [`**${code(saidBy)}**`, quote(said)]),
    ...(turn.attachments ?? []).map((name) => `- Attached ${code(name)}`),
  ];
  const spoken = answer.flatMap((part) => (part.type === "text" ? textLines(part) : toolLine(part)));
  const closing = [
    ...(heard === undefined ? [] : ["Cut off. What was heard:", quote(heard === "" ? "(nothing)" : heard)]),
    ...(turn.state === "completed" ? [] : [`(${turn.state})`]),
  ];
  return ["", ...opening, "**Agent**", ...spoken, ...closing].join("\n\n").slice(1) + "\n";
}

function textLines({ text, original }: SpokenText): string[] {
  return [quote(text), ...(original === undefined ? [] : ["Changed by a hook. The model wrote:", quote(original)])];
}

function toolLine({ name, state, ranOn, mcpServer, participant, input, result, ...tool }: SpokenTool): string {
  const { display, leftOutBytes, errorCode, errorMessage } = tool;
  const server = mcpServer === undefined ? "the server" : `MCP server ${code(mcpServer)}`;
  const where = { server: `by ${server}`, client: `by ${code(participant ?? "a client")}`, anthropic: "by Anthropic" };
  const parts = [
    `Used ${code(name)}`,
    ...(input === undefined ? [] : [` with ${code(toJson(input))}`]),
    ...(ranOn === undefined ? [] : [`, run ${where[ranOn]}`]),
    `: ${state}`,
    ...(errorCode === undefined ? [] : [` ${code(errorCode)}`]),
    ...(errorMessage === undefined ? [] : [`, ${code(errorMessage)}`]),
    ...(result === undefined ? [] : [`, ${code(typeof result === "string" ? result : toJson(result))}`]),
    ...(display === undefined ? [] : [`, displayed ${code(toJson(display))}`]),
    ...(leftOutBytes === undefined ? [] : [` (${leftOutBytes} bytes are left out)`]),
  ];
  return `- ${parts.join("")}`;
}

/** Returns JSON in which base64 data URLs are replaced by their media type and size. */
function toJson(value: JsonValue): string {
  return JSON.stringify(value, (_key, each: JsonValue) => {
    const [, type, bytes] = typeof each === "string" ? (/^data:([^,]{0,200});base64,(.*)$/su.exec(each) ?? []) : [];
    return bytes === undefined ? each : `${type}, ${Buffer.byteLength(bytes, "base64")} bytes`;
  });
}

/** Returns a block quote. `<` becomes `\<`, so that it cannot start HTML. */
function quote(text: string): string {
  const lines = text.trim().split(/\r\n|[\n\r\u2028\u2029]/);
  return lines.map((line) => `> ${line.replaceAll("<", String.raw`\<`)}`.trimEnd()).join("\n");
}

/** Returns a code span on one line. The fence is longer than any run of backticks in the text. */
function code(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  const cut = flat.length > MAX_CHARACTERS ? `${flat.slice(0, MAX_CHARACTERS)}…` : flat;
  const longest = Math.max(0, ...[...cut.matchAll(/`+/g)].map(([row]) => row.length));
  if (longest === 0) return `\`${cut || " "}\``;
  const fence = "`".repeat(longest + 1);
  return `${fence} ${cut} ${fence}`;
}

function timeOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
