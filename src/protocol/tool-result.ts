import { refuseUnknownFields } from "../lib/checks/did-you-mean.ts";

type Text = { readonly type: "text"; readonly text: string };
/** Bytes, as they are or in base64. Their format is detected, so `type` and `media_type` are optional. */
type Bytes = { readonly type?: "base64"; readonly media_type?: string; readonly data: Uint8Array | string };
type PlainText = { readonly type: "text"; readonly media_type?: "text/plain"; readonly data: string };

/** A content block of Anthropic's API, shown to the model. Images are PNG, JPEG, GIF or WebP. */
export type ResultBlock =
  | Text
  | { readonly type: "image"; readonly source: Bytes }
  /** A PDF, or plain text. */
  | {
      readonly type: "document";
      readonly source: Bytes | PlainText;
      readonly title?: string;
      readonly context?: string;
    }
  | {
      readonly type: "search_result";
      /** Where the result was found, such as a URL. */
      readonly source: string;
      readonly title: string;
      readonly content: readonly Text[];
    };

export interface ToolResultParts {
  /** What the tool would return without `toolResult`. The model reads it before `content`. */
  readonly result?: unknown;
  /** Only for the model: text, images, documents, search results. */
  readonly content?: readonly ResultBlock[];
  /** Only for display by clients. It uses no tokens. */
  readonly display?: Readonly<Record<string, unknown>>;
}

const RESULT = Symbol.for("parley.toolResult");

/** The return value of `toolResult`. */
export interface ToolResult {
  readonly [RESULT]: ToolResultParts;
}

/**
 * Returns a tool result that shows the model images or documents, or gives clients something to display.
 *
 * @throws {TypeError} if `parts` has an unknown field
 * @example
 * return toolResult({ content: [{ type: "image", source: { data: png } }], display: { url: "/plans/17" } });
 */
export function toolResult(parts: ToolResultParts): ToolResult {
  refuseUnknownFields(parts, ["result", "content", "display"], "toolResult");
  return { [RESULT]: parts };
}

/** Returns the parts of a `toolResult`, or `undefined` for any other value. */
export function partsOf(value: unknown): ToolResultParts | undefined {
  return typeof value === "object" && value !== null && RESULT in value ? (value as ToolResult)[RESULT] : undefined;
}
