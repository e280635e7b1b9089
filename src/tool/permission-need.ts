import { cleanText, readJson } from "../lib/clean-json.ts";
import { isRecord, type JsonObject } from "../lib/json.ts";
import { refuseUnknownFields } from "../lib/checks/did-you-mean.ts";
import { PERMISSION_FIELDS, type PermissionAsk, type ToolPermission } from "./define-tool.ts";
import type { FoundTool } from "./tool-routing.ts";
import { messageOf } from "./outcome.ts";

export interface PermissionNeed {
  /**
   * `tool` if the tool declares no permission. Then only a rule for that type can require permission or deny the call.
   */
  readonly type: string;
  /** What the call would touch, as literal values. */
  readonly values: readonly string[];
  readonly ignoresCase: boolean;
  readonly title: string;
  readonly metadata: JsonObject;
  readonly isDeclared: boolean;
  /**
   * Whether a spoken yes may allow the call. If not, a yes in conversation must be typed, in answer to a question that
   * was shown in full.
   */
  readonly voiceApproval: boolean;
  /** The schema for the participant's edited arguments; `undefined` if the participant may not edit them. */
  readonly editedInputSchema: JsonObject | undefined;
}

/**
 * A need with its approver: the owner of the device that is to run the call, otherwise the participant whose turn it
 * is.
 */
export interface AskedNeed extends PermissionNeed {
  readonly approver: string;
}

/** Whether a call may run. */
export type Permit =
  /** With `approver`, only that participant's device may run the call, because no other owner was asked. */
  | { readonly isAllowed: true; readonly editedInput?: JsonObject; readonly approver?: string }
  /** `why` completes "Not run: " or "Not allowed: ". */
  | { readonly isAllowed: false; readonly why: string };

/** The `type` of tools that declare no permission. */
export const TOOL_TYPE = "tool";
const MAX_VALUES = 50;
const MAX_VALUE_LENGTH = 10_000;
/** The maximum length of a title, in UTF-16 code units. A longer title is cut and ends with `…`. */
export const MAX_TITLE_LENGTH = 500;

/**
 * Returns what a call needs permission for.
 *
 * @throws {TypeError} naming the function of the tool's permission that failed for this input
 */
export function permissionNeed(tool: FoundTool, input: unknown): PermissionNeed {
  const { name, permission, voiceApproval = true, allowEditedInput = false } = tool;
  const editedInputSchema = allowEditedInput ? tool.input.jsonSchema : undefined;
  const common = { voiceApproval, editedInputSchema, isDeclared: permission !== undefined };
  if (!permission)
    return { type: TOOL_TYPE, values: [name], ignoresCase: false, title: `Use ${name}`, metadata: {}, ...common };
  const { pattern, ignoresCase, title, metadata } = permission;
  const read = readerOf((field) => `Not run: the tool's permission.${field} failed`);
  return {
    type: permission.type,
    values: read("pattern", () => toValues(pattern(input, undefined))),
    ignoresCase: read("ignoresCase", () => ignoresCase?.(input, undefined) ?? false),
    title: read("title", () => toTitle(title(input))),
    metadata: metadata ? read("metadata", () => toMetadata(metadata(input))) : {},
    ...common,
  };
}

/** Returns what a running tool asks permission for. @throws {TypeError} naming the invalid field */
export function needOfRunning(
  { voiceApproval = true }: Pick<FoundTool, "voiceApproval">,
  request: PermissionAsk,
): PermissionNeed {
  refuseUnknownFields(request, PERMISSION_FIELDS, "a permission request");
  const { type, pattern, ignoresCase = false, title, metadata = {} } = request;
  if (typeof type !== "string" || type === "") throw new TypeError("ask: type: expected a non-empty string");
  const read = readerOf((field) => `ask: ${field}`);
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

/** Returns a function that reads a field from the tool. If reading fails, its error names the field. */
function readerOf(where: (field: keyof ToolPermission<unknown>) => string) {
  return <Value>(field: keyof ToolPermission<unknown>, read: () => Value): Value => {
    try {
      return read();
    } catch (error) {
      throw new TypeError(`${where(field)}: ${messageOf(error)}`, { cause: error });
    }
  };
}

function toValues(touched: unknown): string[] {
  const values: unknown[] = Array.isArray(touched) ? touched : [touched];
  if (values.length === 0 || values.length > MAX_VALUES)
    throw new TypeError(`expected 1 to ${MAX_VALUES} strings, got ${values.length}`);
  return values.map((value) => {
    if (typeof value !== "string" || value === "") throw new TypeError("expected a non-empty string or a list of them");
    if (value.length > MAX_VALUE_LENGTH) throw new TypeError(`longer than ${MAX_VALUE_LENGTH} characters`);
    return cleanText(value);
  });
}

function toTitle(value: unknown): string {
  if (typeof value !== "string" || value.trim() === "") throw new TypeError("expected a non-empty string");
  const text = cleanText(value.trim());
  return text.length < MAX_TITLE_LENGTH ? text : `${text.slice(0, MAX_TITLE_LENGTH - 1)}…`;
}

function toMetadata(value: unknown): JsonObject {
  if (!isRecord(value)) throw new TypeError("expected an object");
  const read = readJson(value, "metadata");
  if ("fault" in read) throw new TypeError(read.fault);
  return read.value as JsonObject;
}
