import { NEVER_RAN } from "../../conversation/call.ts";
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

const MAX_SHOWN = 200;

/** Formats an event as one line for the terminal. Returns `undefined` for events that are not shown. */
export function toLine(event: TalkEvent): string | undefined {
  switch (event.event) {
    case "joined":
      return `In room ${event.room} as ${event.identity}, with ${event.agent}. Ctrl-C stops an answer, or leaves.`;
    case "tool_call":
      return `  → ${event.toolName} ${shorten(JSON.stringify(event.parameters))}${runHere(event)}`;
    case "tool_result":
      return `  ← ${event.toolName ?? event.id} (${place(event)}): ${outcome(event)}`;
    case "sentence":
      return event.text === "" ? undefined : clean(event.text);
    case "transcription":
      return event.final ? `you said: ${clean(event.text)}` : undefined;
    case "permission_request":
      // Do not shorten the arguments: a yes must not allow anything that was not shown.
      return `  ? ${clean(event.title)}${argumentsOf(event.input)}: [y]es, [a]lways or [n]o`;
    case "permission_closed":
      return `  ? ${clean(event.title)}: ${event.state}`;
    case "notification":
      return `  ** ${clean(event.text)} **`;
    case "form":
      return clean(event.text);
    case "error":
      return `error ${event.code}: ${clean(event.message)}`;
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
  return participant === undefined ? " (run here)" : ` (run here for ${clean(participant)})`;
}

function place({ ranBy, errorCode }: ToolResultEvent): string {
  if (ranBy === "client") return "run here";
  return NEVER_RAN.has(errorCode ?? "") ? "not run" : "run by the server";
}

function outcome({ success, result, errorCode, errorMessage }: ToolResultEvent): string {
  if (success) return shorten(JSON.stringify(result ?? {}));
  return clean(`${errorCode ?? "failed"}: ${errorMessage ?? ""}`);
}

function argumentsOf(input: unknown): string {
  return input === undefined ? "" : ` ${clean(JSON.stringify(input))}`;
}

function shorten(text: string): string {
  return clean(text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`);
}

/**
 * Replaces control characters, which could manipulate the terminal or reorder other text. Keeps line breaks and tabs.
 */
function clean(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, "\u{FFFD}");
}
