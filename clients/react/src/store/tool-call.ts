import type { ExtraAnswer, MessageBody } from "@parley/client";

type Fields = Readonly<Record<string, unknown>>;

/** One use of a tool, from the model's first word of it to its end. Immutable: each change makes a new object. */
export interface ToolCall {
  /** The model's id, as in `Part`. */
  readonly toolUseId: string;
  /** The call's id in permissions, results and cancels; absent until the call has begun. */
  readonly id?: string;
  /** The id of the answer that it belongs to. */
  readonly messageId: string;
  readonly name: string;
  /** `writing`: the model still writes the arguments. */
  readonly status: "writing" | "pending" | "running" | "success" | "error" | "cancelled";
  /** The arguments as JSON; incomplete while they are written. */
  readonly inputJson: string;
  readonly output?: string;
  /** Whether the arguments or the output are cut: the worker's `GET /session/{id}/calls/{callId}` has them whole. */
  readonly isCut?: boolean;
  /** What the tool shows to people. The model does not know it. */
  readonly display?: Fields;
  readonly error?: string;
  readonly errorCode?: string;
  readonly logs: readonly string[];
  /** From 0 to 1. */
  readonly progress?: number;
  /** Who runs it, or who was asked to. */
  readonly runner?: "server" | "client" | "either" | "anthropic";
  /** The name of the MCP server that the tool is from. */
  readonly mcpServer?: string;
  /** The participant on whose device it runs. */
  readonly addressee?: string;
  /** The arguments that a participant has put in the place of `inputJson`, as JSON. */
  readonly editedInput?: string;
  readonly waitsForPermission?: boolean;
  /** The participant whose permission it waits for. */
  readonly approver?: string;
  /** Answers that came after the call's end, and changed nothing. `at` is Unix ms, by the worker's clock; older workers do not say it. */
  readonly extraAnswers?: readonly (ExtraAnswer & { readonly at?: number })[];
  /** Unix ms, by the worker's clock. */
  readonly startedAt?: number;
  readonly finishedAt?: number;
  readonly deadlineAt?: number;
  readonly revision: number;
}

type State = MessageBody<"tool_call_state">;
type BlockEvent = MessageBody<"block_event">;

const METADATA = [
  "errorCode",
  "isCut",
  "progress",
  "addressee",
  "mcpServer",
  "editedInput",
  "waitsForPermission",
  "approver",
  "deadlineAt",
  "extraAnswers",
  "display",
] as const;

/**
 * The call after a state has come, unless a newer one is known; `undefined` for a state that names no tool use.
 *
 * @param find gives the known call of a tool use
 */
export function applyState(find: (toolUseId: string) => ToolCall | undefined, state: State): ToolCall | undefined {
  const metadata = parseFields(state.metadataJson);
  const { toolUseId, messageId, revision, execution } = metadata;
  if (typeof toolUseId !== "string" || typeof messageId !== "string") return undefined;
  const known = find(toolUseId);
  if (known && typeof revision === "number" && revision < known.revision) return known;
  const { id, name, status, output, error, logs, startedAt, finishedAt } = state;
  const present = Object.entries({ output, error, startedAt, finishedAt, ...pick(metadata, METADATA) });
  return {
    toolUseId,
    messageId,
    id,
    name,
    status,
    logs,
    // The states of some tools have no arguments; the block has them.
    inputJson: state.inputJson || (known?.inputJson ?? ""),
    revision: typeof revision === "number" ? revision : 0,
    ...(isRunner(execution) && { runner: execution }),
    ...Object.fromEntries(present.filter(([, value]) => value !== undefined)),
  };
}

/** The call after an event of its tool use's block, or of its result's; `undefined` for other blocks. */
export function applyCallBlock(known: ToolCall | undefined, event: BlockEvent): ToolCall | undefined {
  const { type, toolUseId, turnId, delta, content } = event;
  if (type === "tool_use" || type === "server_tool_use") {
    if (toolUseId === undefined) return undefined;
    const begun: ToolCall = known ?? {
      toolUseId,
      messageId: turnId,
      name: event.toolName ?? "",
      status: "writing",
      inputJson: "",
      logs: [],
      revision: 0,
      ...(type === "server_tool_use" && { runner: "anthropic", status: "running" }),
    };
    const input = content?.["input"];
    return input === undefined || begun.revision > 0 ? begun : { ...begun, inputJson: JSON.stringify(input) };
  }
  if (!known) return undefined;
  const { type: deltaType, partialJson } = delta ?? {};
  if (deltaType === "input_json" && typeof partialJson === "string" && known.status === "writing")
    return { ...known, inputJson: known.inputJson + partialJson };
  if (event.event !== "block_stop" || !type?.endsWith("_result") || known.revision > 0) return known;
  // The call has no states, because they are not shown or Anthropic runs it: its result tells its end.
  const output = JSON.stringify(content?.["content"] ?? {});
  return { ...known, status: content?.["is_error"] === true ? "error" : "success", output };
}

export function isOpen({ status }: ToolCall): boolean {
  return status === "writing" || status === "pending" || status === "running";
}

/** Parses a JSON object; `{}` for anything else. */
export function parseFields(json: string): Fields {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? (value as Fields) : {};
  } catch {
    return {};
  }
}

function pick(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, fields[name]]));
}

function isRunner(value: unknown): value is "server" | "client" | "either" {
  return value === "server" || value === "client" || value === "either";
}
