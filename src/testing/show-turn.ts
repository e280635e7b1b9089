import { toTurnLine } from "../conversation/turn-lines.ts";
import type { Turn } from "./turn.ts";

/** Describes a turn for people, with a line for each thing that happened. */
export function showTurn(turn: Turn): string {
  const end = turn.state === "completed" ? [] : [`(${turn.state}${turn.error === undefined ? "" : `: ${turn.error}`})`];
  return [
    toTurnLine({ type: "said", text: turn.said }),
    ...turn.calls.map((call) => toTurnLine({ type: "call", call })),
    ...turn.asked.map((question) => toTurnLine({ type: "question", question })),
    toTurnLine({ type: "answer", text: turn.text }),
    ...end,
  ].join("\n");
}
