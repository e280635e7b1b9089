import { asText } from "../../lib/json.ts";
import { MESSAGE_LIMITS } from "../limits.ts";
import type { Configuration } from "../messages/control-messages.ts";
import { isPlainMap } from "../messages/fields.ts";
import { MESSAGES } from "../messages/messages.ts";
import { PacketBudget } from "./packet-budget.ts";
import { peekEnvelope, peekName, peekTools } from "./peek.ts";

const EMPTY_LIST = Uint8Array.of(0x90);
/**
 * The bytes of `{body: {tools: [`, for a list of one tool. They put the tool at the same depth as in its original
 * packet.
 */
const AROUND_TOOL = Uint8Array.of(0x81, 0xa4, ...ascii("body"), 0x81, 0xa5, ...ascii("tools"), 0x91);

type Unpack = (bytes: Uint8Array, budget: PacketBudget) => Record<string, unknown>;

interface ToolsApart {
  /** The packet with the tools that could be read, and `null` in place of the others. */
  readonly root: Record<string, unknown>;
  /** Why tools could not be read, keyed by their index in the list. */
  readonly faults: ReadonlyMap<number, { readonly name: string; readonly reason: string }>;
}

/**
 * Decodes a Configuration that exceeds a limit or is malformed, reading each of its tools separately. A tool is omitted
 * if including it would exceed the packet's limits. Returns `undefined` for any other message, or if the fault is not
 * in the tools.
 */
export function unpackToolsIndividually(bytes: Uint8Array, unpack: Unpack): ToolsApart | undefined {
  if (bytes.length > MESSAGE_LIMITS.envelopeBytes) return undefined;
  const list = peekEnvelope(bytes)["type"] === MESSAGES.configuration.number ? peekTools(bytes) : undefined;
  if (!list) return undefined;
  const faults = new Map<number, { name: string; reason: string }>();
  const budget = new PacketBudget();
  const rest = join(bytes.subarray(0, list.start), EMPTY_LIST, bytes.subarray(list.end));
  const root = attempt(() => unpack(rest, budget));
  if ("fault" in root || !isPlainMap(root.value["body"])) return undefined;
  const tools = list.items.map((item, index) => {
    // Of the tools beyond the limit, only the first is read, because its name is reported.
    if (index > MESSAGE_LIMITS.announcedTools) return null;
    const tool = attempt(() => unpack(join(AROUND_TOOL, item), budget));
    if ("value" in tool) return (tool.value as { body: { tools: unknown[] } }).body.tools[0];
    faults.set(index, { name: asText(peekName(item)), reason: toReason(tool.fault) });
    return null;
  });
  root.value["body"]["tools"] = tools;
  return { root: root.value, faults };
}

/**
 * Rewords a fault of the packet as a fault of one tool. The limits on values and keys still apply to the whole packet.
 */
function toReason(fault: string): string {
  return fault.replace("The packet has over", "With this tool, the packet has over").replace("The packet", "The tool");
}

/**
 * Adds names and reasons for the tools that could not be read, which `unpackToolsIndividually` replaced with `null`.
 */
export function nameUnreadable(body: Configuration, faults: ToolsApart["faults"]): Configuration {
  const invalidTools = body.invalidTools?.map((invalid) => {
    const fault = faults.get(invalid.index);
    return fault
      ? { index: invalid.index, ...(fault.name !== "" && { name: fault.name }), reason: fault.reason }
      : invalid;
  });
  return invalidTools ? { ...body, invalidTools } : body;
}

function attempt<Value>(read: () => Value): { readonly value: Value } | { readonly fault: string } {
  try {
    return { value: read() };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : "The tool cannot be decoded" };
  }
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
