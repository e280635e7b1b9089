import type { Question, SeenCall, Turn } from "./turn.ts";

const MAX_JSON = 200;

/** Describes a turn for people, with a line for each thing that happened. */
export function showTurn(turn: Turn): string {
  const end = turn.state === "completed" ? [] : [`(${turn.state}${turn.error === undefined ? "" : `: ${turn.error}`})`];
  return [
    `user:  ${turn.said ?? "(nothing: the turn began by itself)"}`,
    ...turn.calls.map((call) => `calls: ${showCall(call)}`),
    ...turn.asked.map((question) => `asks:  ${showQuestion(question)}`),
    `agent: ${turn.text === "" ? "(nothing)" : turn.text}`,
    ...end,
  ].join("\n");
}

export function showCall({ name, input, state, ranOn, result, errorCode, errorMessage }: SeenCall): string {
  const where = ranOn === "client" ? " on the device" : "";
  const outcome =
    state === "success"
      ? ` → ${cutJson(result)}`
      : errorCode === undefined
        ? ` → ${state}`
        : ` → ${errorCode}: ${errorMessage}`;
  return `${name} ${cutJson(input)}${where}${outcome}`;
}

export function showQuestion({ tool, title, state }: Question): string {
  return `${tool} "${title}" → ${state}`;
}

export function cutJson(value: unknown, replace: (value: unknown) => unknown = (each) => each): string {
  const json = JSON.stringify(value, (_key, each: unknown) => replace(each)) ?? "";
  return json.length > MAX_JSON ? `${json.slice(0, MAX_JSON)}…` : json;
}
