import { NEVER_RAN } from "../../conversation/call.ts";
import { cutJson, forTerminal, showOutcome } from "../../conversation/turn-lines.ts";
import type { ErrorEvent, PermissionClosedEvent, ToolCallEvent, ToolResultEvent } from "../../client/index.ts";

/** An event as printed by `--json`. */
export type TalkEvent =
  | { readonly event: "joined"; readonly room: string; readonly identity: string; readonly agent: string }
  | { readonly event: "answer_start"; readonly id: string; readonly previousId: string }
  | ({ readonly event: "tool_call" } & ToolCallEvent)
  | ({ readonly event: "tool_result" } & ToolResultEvent)
  | { readonly event: "sentence"; readonly sequence: number; readonly text: string; readonly isFinal: boolean }
  | { readonly event: "transcription"; readonly text: string; readonly final: boolean }
  | { readonly event: "permission_request"; readonly id: string; readonly title: string; readonly input: unknown }
  | ({ readonly event: "permission_closed"; readonly title: string } & PermissionClosedEvent)
  | { readonly event: "notification"; readonly text: string }
  | { readonly event: "form"; readonly text: string }
  | { readonly event: "turn_end"; readonly id: string; readonly previousId: string; readonly text: string }
  | ({ readonly event: "error" } & Pick<ErrorEvent, "code" | "message" | "originatingId">)
  | { readonly event: "disconnected"; readonly reason: "room" | "agent" }
  | { readonly event: "connected" };

/** Formats an event as one line for the terminal. Returns `undefined` for events that are not shown. */
export function toLine(event: TalkEvent): string | undefined {
  switch (event.event) {
    case "joined":
      return `In room ${event.room} as ${event.identity}, with ${event.agent}. Ctrl-C stops an answer, or leaves.`;
    case "tool_call":
      return `  → ${event.toolName} ${forTerminal(cutJson(event.parameters))}${runHere(event)}`;
    case "tool_result":
      return `  ← ${event.toolName ?? event.id} (${place(event)}): ${forTerminal(outcomeOf(event))}`;
    case "sentence":
      return event.text === "" ? undefined : forTerminal(event.text);
    case "transcription":
      return event.final ? `you said: ${forTerminal(event.text)}` : undefined;
    case "permission_request":
      // Do not shorten the arguments: a yes must not allow anything that was not shown.
      return `  ? ${forTerminal(event.title)}${argumentsOf(event.input)}: [y]es, [a]lways or [n]o`;
    case "permission_closed":
      return `  ? ${forTerminal(event.title)}: ${event.state}`;
    case "notification":
      return `  ** ${forTerminal(event.text)} **`;
    case "form":
      return forTerminal(event.text);
    case "error":
      return `error ${event.code}: ${forTerminal(event.message)}`;
    case "disconnected":
      return event.reason === "room" ? "The connection to the room is lost." : "The agent has left the room.";
    case "connected":
      return "The agent is back.";
    case "answer_start":
    case "turn_end":
      return undefined;
  }
}

/**
 * Returns a note for calls that run in this terminal. Other calls get none, because only a call's result shows whether
 * the server ran it.
 */
function runHere({ ranBy, participant }: ToolCallEvent): string {
  if (ranBy === "server") return "";
  return participant === undefined ? " (run here)" : ` (run here for ${forTerminal(participant)})`;
}

function place({ ranBy, errorCode }: ToolResultEvent): string {
  if (ranBy === "client") return "run here";
  return NEVER_RAN.has(errorCode ?? "") ? "not run" : "run by the server";
}

function outcomeOf({ success, result, errorCode, errorMessage }: ToolResultEvent): string {
  return showOutcome(success ? { result: result ?? {} } : { errorCode: errorCode ?? "failed", errorMessage });
}

function argumentsOf(input: unknown): string {
  return input === undefined ? "" : ` ${forTerminal(JSON.stringify(input))}`;
}
