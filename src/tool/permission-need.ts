import { cleanJson, cleanText } from "../lib/clean-json.ts";
import { isRecord, type JsonObject } from "../lib/json.ts";
import { type FoundTool } from "./directory.ts";
import { messageOf } from "./outcome.ts";

/** What a tool asks leave for before it runs. Each function gets the checked input. */
export interface ToolPermission<Input> {
  /** The kind of thing, as rules name it: `edit`, `bash`. */
  readonly type: string;
  /** Globs that say exactly what the call touches; `literalPattern` takes a text's own stars and brackets as they are. */
  readonly pattern: (input: Input) => string | readonly string[];
  /** What the person is asked, without the question: "Write notes/today.md". */
  readonly title: (input: Input) => string;
  /** What else a client may show. */
  readonly metadata?: (input: Input) => JsonObject;
}

/** What one call needs leave for. */
export interface PermissionNeed {
  /** `tool` when the tool declares none: only a rule that names it can ask or deny. */
  readonly type: string;
  readonly patterns: readonly string[];
  readonly title: string;
  readonly metadata: JsonObject;
  readonly isDeclared: boolean;
  /** Whether a spoken or written yes may allow it. */
  readonly voiceApproval: boolean;
  /** What arguments that the person puts in the place of the model's must match; absent where it may not. */
  readonly editedInputSchema: JsonObject | undefined;
}

/** Whether a call may run. */
export type Permit =
  | { readonly isAllowed: true; readonly editedInput?: JsonObject }
  /** `why` is for the model. */
  | { readonly isAllowed: false; readonly why: string };

/** The `type` of what declares none. */
export const TOOL_TYPE = "tool";
const MAX_PATTERNS = 50;
const MAX_PATTERN_LENGTH = 10_000;
const MAX_TITLE_LENGTH = 500;

/** @throws {TypeError} naming what the tool's definition says wrongly of this input */
export function permissionNeed(tool: FoundTool, input: unknown): PermissionNeed {
  const { name, permission, voiceApproval = true, allowEditedInput = false } = tool;
  const editedInputSchema = allowEditedInput ? tool.input.jsonSchema : undefined;
  const common = { voiceApproval, editedInputSchema, isDeclared: permission !== undefined };
  if (!permission) return { type: TOOL_TYPE, patterns: [name], title: `Use ${name}`, metadata: {}, ...common };
  const { pattern, title, metadata } = permission;
  return {
    type: permission.type,
    patterns: call("pattern", () => toPatterns(pattern(input))),
    title: call("title", () => toTitle(title(input))),
    metadata: metadata ? call("metadata", () => toMetadata(metadata(input))) : {},
    ...common,
  };
}

function call<Value>(field: keyof ToolPermission<unknown>, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new TypeError(`Not run: the tool's permission.${field} failed: ${messageOf(error)}`, { cause: error });
  }
}

function toPatterns(value: unknown): string[] {
  const patterns: unknown[] = Array.isArray(value) ? value : [value];
  if (patterns.length === 0 || patterns.length > MAX_PATTERNS)
    throw new TypeError(`expected 1 to ${MAX_PATTERNS} patterns, got ${patterns.length}`);
  return patterns.map((pattern) => {
    if (typeof pattern !== "string" || pattern === "") throw new TypeError("expected a text or a list of texts");
    if (pattern.length > MAX_PATTERN_LENGTH) throw new TypeError(`longer than ${MAX_PATTERN_LENGTH} characters`);
    return cleanText(pattern);
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
