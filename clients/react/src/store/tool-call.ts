import type { ExtraAnswer, MessageBody } from "@parley/client";

type Fields = Readonly<Record<string, unknown>>;

/** One tool call, from the first token of its block to its end. Immutable: each change creates a new object. */
export interface ToolCall {
  /** The model's id of the call, as in `Part`. */
  readonly toolUseId: string;
  /** The call's id in permissions, results and cancels. Absent until the call has begun. */
  readonly id?: string;
  /** The id of the answer that the call belongs to. */
  readonly messageId: string;
  readonly name: string;
  /** `writing`: the model is still writing the arguments. */
  readonly status: "writing" | "pending" | "running" | "success" | "error" | "cancelled";
  /** The arguments as JSON. Incomplete while they are being written. */
  readonly inputJson: string;
  readonly output?: string;
  /** Whether arguments or output are truncated. `GET /session/{id}/calls/{callId}` returns them in full. */
  readonly isCut?: boolean;
  /** What the tool shows to people. The model does not see it. */
  readonly display?: Fields;
  readonly error?: string;
  readonly errorCode?: string;
  readonly logs: readonly string[];
  /** From 0 to 1. */
  readonly progress?: number;
  /** Who runs the call, or was asked to. */
  readonly runner?: "server" | "client" | "either" | "anthropic";
  /** The MCP server that provides the tool. */
  readonly mcpServer?: string;
  /** The participant whose device runs the call. */
  readonly addressee?: string;
  /** The arguments that replace `inputJson` after a participant edited them, as JSON. */
  readonly editedInput?: string;
  readonly waitsForPermission?: boolean;
  /** The participant who must approve the call. */
  readonly approver?: string;
  /**
   * Answers that arrived after the call had ended and were ignored. `at` is Unix ms by the worker's clock. Older
   * workers omit it.
   */
  readonly extraAnswers?: readonly (ExtraAnswer & { readonly at?: number })[];
  /** Unix ms by the worker's clock. */
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
 * Applies a call state, unless a newer state is known. Returns `undefined` for a state without a tool use id.
 *
 * @param find returns the known call of a tool use
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
    // The states of some tools omit the arguments. The arguments from the block are then kept.
    inputJson: state.inputJson || (known?.inputJson ?? ""),
    revision: typeof revision === "number" ? revision : 0,
    ...(isRunner(execution) && { runner: execution }),
    ...Object.fromEntries(present.filter(([, value]) => value !== undefined)),
  };
}

/** Applies an event of a tool_use block or its result block. Returns `undefined` for other blocks. */
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
  // A call without states (because they are not shown, or because Anthropic runs the call) ends with its result block.
  const output = JSON.stringify(content?.["content"] ?? {});
  return { ...known, status: content?.["is_error"] === true ? "error" : "success", output };
}

export function isOpen({ status }: ToolCall): boolean {
  return status === "writing" || status === "pending" || status === "running";
}

/** Parses a JSON object. Returns `{}` for anything else. */
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
