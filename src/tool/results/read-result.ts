import type { Failure, Outcome } from "../../conversation/call.ts";
import { contentText, type ContentBlock, type Media } from "../../conversation/content.ts";
import type { JsonFault } from "../../lib/clean-json.ts";
import { isRecord, type JsonObject } from "../../lib/json.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { partsOf } from "../../protocol/tool-result.ts";
import { failure, resultText, success, toResultMap } from "../outcome.ts";
import { readBounded } from "./read-bounded.ts";
import { ContentFault, readContent } from "./read-content.ts";

/** The outcome of a call whose tool has returned, with the media that its content refers to. */
export interface ReadResult {
  readonly outcome: Outcome;
  readonly media: readonly Media[];
}

/** Stands in for a result that the tool's thread found unusable and did not send. */
export class UnusableResult {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    this.outcome = outcome;
  }
}

/** Reads what one of our tools returned. Never throws: an unusable result becomes a failure that says why. */
export function readReturned(value: unknown): ReadResult {
  if (value instanceof UnusableResult) return { outcome: value.outcome, media: [] };
  const parts = partsOf(value);
  if (parts) return readParts(parts);
  const read = readBounded(value, "result");
  return { outcome: "fault" in read ? unusable(toFault(read)) : success(toResultMap(read.value)), media: [] };
}

interface Parts {
  readonly result?: unknown;
  readonly content?: unknown;
  readonly display?: unknown;
}

/**
 * Reads the parts of a result from one of our tools, an MCP server or a client. The tool has run, even if the parts are
 * invalid.
 */
export function readParts({ result, content, display }: Parts): ReadResult {
  const read = readBounded(result, "result");
  if ("fault" in read) return { outcome: unusable(toFault(read)), media: [] };
  const map = toResultMap(read.value);
  const hasResult = Object.keys(map).length > 0;
  try {
    const { blocks, media } = content === undefined ? NOTHING : inField("content", () => readContent(content));
    const shown = display === undefined ? undefined : inField("display", () => readDisplay(display));
    return {
      outcome: {
        state: "success",
        result: hasResult || blocks.length === 0 ? map : { value: contentText(blocks) },
        ...(blocks.length > 0 && { content: hasResult ? [...asText(map), ...blocks] : blocks }),
        ...(shown && { display: shown }),
      },
      media,
    };
  } catch (error) {
    if (!(error instanceof ContentFault)) throw error;
    const failed = unusable(error);
    return { outcome: hasResult ? { ...failed, result: map } : failed, media: [] };
  }
}

/** Returns the outcome of a call that a client reports as failed, with the client's diagnostics. */
export function readFailed(failed: Failure, diagnostics: unknown): Outcome {
  const read = readBounded(diagnostics, "result");
  if ("fault" in read) return { ...failed, errorMessage: `${failed.errorMessage} (result dropped: ${read.fault})` };
  const map = toResultMap(read.value);
  return Object.keys(map).length > 0 ? { ...failed, result: map } : failed;
}

const toFault = ({ fault, ...kind }: JsonFault): ContentFault => new ContentFault(fault, kind);

function unusable({ message, isTooLarge }: ContentFault): Failure {
  const why = `The tool has run, but its result cannot be used: ${message}`;
  return failure(isTooLarge ? "result_too_large" : "execution_error", why);
}

const NOTHING = { blocks: [], media: [] };

function asText(result: JsonObject): ContentBlock[] {
  const text = resultText(result);
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function inField<Read>(name: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ContentFault)) throw error;
    throw new ContentFault(name + error.message, error);
  }
}

function readDisplay(map: unknown): JsonObject {
  const read = readBounded(map, "");
  if ("fault" in read) throw toFault(read);
  const display = read.value;
  if (!isRecord(display)) throw new ContentFault(": expected a map");
  const size = Buffer.byteLength(JSON.stringify(display));
  if (size <= LIMITS.displayBytes) return display as JsonObject;
  throw new ContentFault(`: expected at most ${LIMITS.displayBytes} bytes of JSON, got ${size}`, { isTooLarge: true });
}
