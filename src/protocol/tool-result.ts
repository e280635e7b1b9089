type Text = { readonly type: "text"; readonly text: string };
/** Bytes, or base64. What they are is found out by the bytes themselves: `type` and `media_type` may be left out. */
type Bytes = { readonly type?: "base64"; readonly media_type?: string; readonly data: Uint8Array | string };
type PlainText = { readonly type: "text"; readonly media_type?: "text/plain"; readonly data: string };

/** A content block of Anthropic's API: what the model is shown. Pictures are PNG, JPEG, GIF or WebP. */
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
      /** Where it was found, such as a URL. */
      readonly source: string;
      readonly title: string;
      readonly content: readonly Text[];
    };

export interface ToolResultParts {
  /** What the tool would return without `toolResult`. The model reads it before `content`. */
  readonly result?: unknown;
  /** For the model alone: texts, pictures, documents, search results. */
  readonly content?: readonly ResultBlock[];
  /** For the clients' pages alone: it costs the model nothing. */
  readonly display?: Readonly<Record<string, unknown>>;
}

const RESULT = Symbol.for("parley.toolResult");

/** What `toolResult` makes. */
export interface ToolResult {
  readonly [RESULT]: ToolResultParts;
}

/**
 * What a tool returns that shows the model pictures or documents, or gives clients something to display.
 *
 * @example
 * return toolResult({ content: [{ type: "image", source: { data: png } }], display: { url: "/plans/17" } });
 */
export function toolResult(parts: ToolResultParts): ToolResult {
  return { [RESULT]: parts };
}

/** The parts of what `toolResult` made; `undefined` for any other value. */
export function partsOf(value: unknown): ToolResultParts | undefined {
  return typeof value === "object" && value !== null && RESULT in value ? (value as ToolResult)[RESULT] : undefined;
}
