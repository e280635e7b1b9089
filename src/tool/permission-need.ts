import { cleanJson, cleanText } from "../lib/clean-json.ts";
import { isRecord, type JsonObject } from "../lib/json.ts";
import { type PermissionAsk, type ToolPermission } from "./define-tool.ts";
import { type FoundTool } from "./tool-routing.ts";
import { messageOf } from "./outcome.ts";

/** What one call needs permission for. */
export interface PermissionNeed {
  /** `tool` when the tool declares none: only a rule that names it can ask or deny. */
  readonly type: string;
  /** What it touches, literally. */
  readonly values: readonly string[];
  readonly ignoresCase: boolean;
  readonly title: string;
  readonly metadata: JsonObject;
  readonly isDeclared: boolean;
  /**
   * Whether a spoken yes may allow it; a typed one may then, too. Without it only a typed yes to a question shown
   * whole.
   */
  readonly voiceApproval: boolean;
  /** What arguments that the participant puts in the place of the model's must match; absent where it may not. */
  readonly editedInputSchema: JsonObject | undefined;
}

/** A need with the one who is asked: the owner of the device that the call would run on, else whose turn it is. */
export interface AskedNeed extends PermissionNeed {
  readonly approver: string;
}

/** Whether a call may run. */
export type Permit =
  /** `approver`: no other participant's device may run it, for that one was not asked. */
  | { readonly isAllowed: true; readonly editedInput?: JsonObject; readonly approver?: string }
  /** `why` goes on from "Not run: " or "Not allowed: ". */
  | { readonly isAllowed: false; readonly why: string };

/** The `type` of what declares none. */
export const TOOL_TYPE = "tool";
const MAX_VALUES = 50;
const MAX_VALUE_LENGTH = 10_000;
/** A longer title is cut there. */
export const MAX_TITLE_LENGTH = 500;

/** @throws {TypeError} naming what the tool's definition says wrongly of this input */
export function permissionNeed(tool: FoundTool, input: unknown): PermissionNeed {
  const { name, permission, voiceApproval = true, allowEditedInput = false } = tool;
  const editedInputSchema = allowEditedInput ? tool.input.jsonSchema : undefined;
  const common = { voiceApproval, editedInputSchema, isDeclared: permission !== undefined };
  if (!permission)
    return { type: TOOL_TYPE, values: [name], ignoresCase: false, title: `Use ${name}`, metadata: {}, ...common };
  const { pattern, ignoresCase, title, metadata } = permission;
  return {
    type: permission.type,
    values: call("pattern", () => toValues(pattern(input, undefined))),
    ignoresCase: call("ignoresCase", () => ignoresCase?.(input, undefined) ?? false),
    title: call("title", () => toTitle(title(input))),
    metadata: metadata ? call("metadata", () => toMetadata(metadata(input))) : {},
    ...common,
  };
}

/** @throws {TypeError} naming the field that is wrong */
export function needOfRunning(
  { voiceApproval = true }: Pick<FoundTool, "voiceApproval">,
  { type, pattern, ignoresCase = false, title, metadata = {} }: PermissionAsk,
): PermissionNeed {
  if (typeof type !== "string" || type === "") throw new TypeError("ask: type: expected a text");
  const read = <Value>(field: string, value: () => Value): Value => {
    try {
      return value();
    } catch (error) {
      throw new TypeError(`ask: ${field}: ${messageOf(error)}`, { cause: error });
    }
  };
  return {
    type: cleanText(type),
    values: read("pattern", () => toValues(pattern)),
    ignoresCase,
    title: read("title", () => toTitle(title)),
    metadata: read("metadata", () => toMetadata(metadata)),
    isDeclared: true,
    voiceApproval,
    editedInputSchema: undefined,
  };
}

function call<Value>(field: keyof ToolPermission<unknown>, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new TypeError(`Not run: the tool's permission.${field} failed: ${messageOf(error)}`, { cause: error });
  }
}

function toValues(touched: unknown): string[] {
  const values: unknown[] = Array.isArray(touched) ? touched : [touched];
  if (values.length === 0 || values.length > MAX_VALUES)
    throw new TypeError(`expected 1 to ${MAX_VALUES} texts, got ${values.length}`);
  return values.map((value) => {
    if (typeof value !== "string" || value === "") throw new TypeError("expected a text or a list of texts");
    if (value.length > MAX_VALUE_LENGTH) throw new TypeError(`longer than ${MAX_VALUE_LENGTH} characters`);
    return cleanText(value);
  });
}

function toTitle(value: unknown): string {
  if (typeof value !== "string" || value.trim() === "") throw new TypeError("expected a text");
  return cleanText(value.trim().slice(0, MAX_TITLE_LENGTH));
}

function toMetadata(value: unknown): JsonObject {
  if (!isRecord(value)) throw new TypeError("expected an object");
  return cleanJson(value) as JsonObject;
}
