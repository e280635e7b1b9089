import { isRecord } from "../../lib/json.ts";
import type { ToolAnswer } from "./current-turn.ts";

/** Returns the scripted model's answer about tool results: one sentence per result, in call order. */
export function sayAnswers(answers: readonly ToolAnswer[]): string {
  return answers.map(sayAnswer).join(" ");
}

function sayAnswer(answer: ToolAnswer): string {
  const result = parseMap(answer.content);
  if (answer.isError) return `That did not work: ${sentence(answer.content)}`;
  // Tools may also return a string, a number or a list.
  if (result === undefined) return `${answer.name} says: ${sentence(answer.content)}`;
  const { input } = answer;
  switch (answer.name) {
    case "calculator":
      return sentence(`${text(input["expression"])} is ${text(result["answer"])}`);
    case "read_local_file":
      return `${text(input["filePath"] ?? "The file")} says: ${sentence(text(result["content"]))}`;
    case "show_notification":
      return "The notification is on your screen.";
    case "web_search":
      return saySearch(result);
    case "get_time":
    case "get_local_time":
      return sayTime(result);
    default:
      return `${answer.name} says: ${sentence(answer.content)}`;
  }
}

function sayTime(result: Record<string, unknown>): string {
  const { time, weekday, date, timeZone } = result;
  if (time === undefined) return sentence(`It is ${Object.values(result).map(text).join(", ")}`);
  const day = [weekday, date].filter((part) => part !== undefined).map(text);
  const where = timeZone === undefined ? "" : ` in ${text(timeZone)}`;
  return sentence(`It is ${[text(time), ...day].join(", ")}${where}`);
}

function saySearch(result: Record<string, unknown>): string {
  const results = Array.isArray(result["results"]) ? result["results"] : [];
  const first: unknown = results[0];
  if (!isRecord(first)) return "The search found nothing.";
  return sentence(
    `The search found ${text(result["totalResults"] ?? results.length)} pages; the first is "${text(first["title"])}" (${text(first["url"])})`,
  );
}

function parseMap(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function text(value: unknown): string {
  const whole = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return whole.length > 300 ? `${whole.slice(0, 300)}…` : whole;
}

function sentence(words: string): string {
  const whole = text(words).trim();
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}
