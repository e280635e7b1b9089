import { styleText } from "node:util";
import type { Call } from "../../conversation/call.ts";
import { authorOf, inputText, type TurnRecord } from "../../conversation/turn-record.ts";
import { forTerminal, toTurnLine } from "../../conversation/turn-lines.ts";
import { hideSecrets } from "../../lib/checks/hide-secrets.ts";
import type { SessionEvent, SessionWatcher } from "../../session/events/session-event.ts";
import type { LogOutput } from "./log-output.ts";

type EndOfTurn = Extract<Extract<SessionEvent, { type: "turn" }>["event"], { type: "turn_complete" }>;

const HIDDEN = "(hidden by stateDetail)";

/**
 * Shows a session's turns in the terminal: who said what, the calls with their arguments and results, permission
 * requests, and the end of each turn with its times and tokens. This is conversation content, which goes to the
 * terminal of the author's own machine and nowhere else, so it does not pass through the logger.
 */
export function developmentView(room: string, { print }: Pick<LogOutput, "print">): SessionWatcher {
  const shown = new Set<string>();
  const name = forTerminal(room).replaceAll("\n", " ");
  const write = (text: string, style: Parameters<typeof styleText>[0] = "reset") => {
    const time = new Date().toTimeString().slice(0, "HH:MM:SS".length);
    // Participants' text is cleaned before it is colored, so that it cannot control the terminal. Its further lines are
    // indented, so that they do not look like lines of the view.
    const line = paint(forTerminal(hideSecrets(text)).replaceAll("\n", "\n    "), style);
    print(`${paint(`[${time}] ${name}`, "gray")} ${line}\n`);
  };
  return (event) => {
    switch (event.type) {
      case "turn":
        return showTurnEvent(event, write);
      case "tool_state": {
        const { call } = event;
        if (!call.outcome || shown.has(call.id)) return;
        shown.add(call.id);
        return write(showCall(call), call.state === "success" ? "cyan" : "yellow");
      }
      case "permission_asked":
      case "permission_replied": {
        const { toolName: tool, title, detail, state, repliedBy, repliedVia } = event.permission;
        const question = { tool, title: detail === "full" ? title : HIDDEN, state };
        const by = repliedBy === null ? "" : ` (${repliedBy}, by ${repliedVia})`;
        return write(`${toTurnLine({ type: "question", question })}${by}`, "magenta");
      }
      case "permission_extended":
      case "tool_state_stored":
    }
  };
}

type Write = (text: string, style?: Parameters<typeof styleText>[0]) => void;

function showTurnEvent({ turn, event }: Extract<SessionEvent, { type: "turn" }>, write: Write): void {
  switch (event.type) {
    case "turn_start":
      return write(toTurnLine({ type: "said", ...saidIn(turn) }), "bold");
    case "block_stop":
      if (event.block.blockType !== "text") return;
      return write(toTurnLine({ type: "answer", text: event.block.textContent ?? "" }), "green");
    case "turn_complete":
      return write(showEnd(event), event.state === "failed" ? "red" : "gray");
    case "turn_spoken":
      return event.heard === undefined ? undefined : write(`heard: ${event.heard}`, "gray");
    default:
  }
}

function saidIn(turn: TurnRecord): { readonly who?: string; readonly text: string | undefined } {
  if (turn.parentMessageId === null) return { text: undefined };
  const files = turn.input.filter(({ type }) => type === "attachment").map(() => "[a file]");
  return { who: authorOf(turn), text: [inputText(turn.input), ...files].join(" ").trim() };
}

function showCall({ toolName: name, input, state, executionResolved: ranOn, detail, outcome }: Call): string {
  if (detail !== "full") return `calls: ${name} ${HIDDEN} → ${state}`;
  return toTurnLine({ type: "call", call: { name, input, state, ranOn, ...outcome } });
}

/** Returns how a turn ended, such as `(completed in 1.8 s, first word after 0.4 s, 1234 tokens in, 56 tokens out)`. */
function showEnd({ state, error, timings, usage }: EndOfTurn): string {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = usage;
  const why = error === undefined ? "" : `: ${error.code}: ${error.message}`;
  const parts = [
    timings ? `${state} in ${toSeconds(timings.totalMs)}${why}` : `${state}${why}`,
    timings?.firstTextMs !== undefined && `first word after ${toSeconds(timings.firstTextMs)}`,
    `${inputTokens + cacheReadTokens + cacheWriteTokens} tokens in`,
    `${outputTokens} tokens out`,
  ];
  return `(${parts.filter(Boolean).join(", ")})`;
}

function toSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 100 ? 2 : 1)} s`;
}

/** `styleText` adds colors only in a terminal, and obeys NO_COLOR and FORCE_COLOR. */
function paint(text: string, style: Parameters<typeof styleText>[0]): string {
  return styleText(style, text, { stream: process.stderr });
}
