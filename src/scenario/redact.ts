import { isRecord } from "../lib/json.ts";

/** Removes secrets and personal data from a string. */
export type Redact = (text: string) => string;

// The text comes from participants, so no pattern may take quadratic time. Patterns without a length limit therefore
// match only at the beginning of a run of their characters.
const SECRET =
  /\b(?:sk|pk|rk|ghp|gho|ghs|glpat|xox[abp])[-_][\w-]{12,}|(?<![\w-])(?=[\w-]*\beyJ[\w-]{8})[\w-]+\.[\w-]{8,}\.[\w-]{8,}|\bAKIA[A-Z0-9]{16}\b/g;
const EMAIL = /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
/** Phone numbers with a country code or in North American form. Other digits are not necessarily a phone number. */
const PHONE = /(?<![\w.])(?:\+|00)[1-9][\d ()/.-]{6,}\d|(?<![\w.-])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\w.-])/g;
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b/g;
const CARD = /(?<![\w-])(?:\d[ -]?){12,18}\d(?![\w-])/g;

/** Fields that the API creates and expects back unchanged. */
const ISSUED: ReadonlySet<string> = new Set([
  "signature",
  "data",
  "encrypted_content",
  "encrypted_index",
  "id",
  "tool_use_id",
]);
const NONE: ReadonlySet<string> = new Set();

/** Replaces what looks like a secret or personal data with a name such as `<email>`. @param more additional patterns */
export function createRedact(more: readonly RegExp[] = []): Redact {
  return (text) => {
    const known = text
      .replace(SECRET, "<secret>")
      .replace(EMAIL, "<email>")
      .replace(IBAN, "<iban>")
      .replace(CARD, (digits) => (isCard(digits) ? "<card>" : digits))
      .replace(PHONE, "<phone>");
    return more.reduce((result, pattern) => result.replace(global(pattern), "<redacted>"), known);
  };
}

/**
 * Redacts all strings in a value except those of issued fields. Drops prompt cache markers, which differ from call to
 * call.
 */
export function normalize(value: unknown, redact: Redact, issued = ISSUED): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((each) => normalize(each, redact, issued));
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([key, each]) => key !== "cache_control" && each !== undefined);
  // All arguments of a call are redacted, even an argument named like an issued field.
  const below = (key: string) => (key === "input" ? NONE : issued);
  // In `data`, a text document contains its text, and other documents contain base64.
  const isIssued = (key: string) => issued.has(key) && !(key === "data" && value["type"] === "text");
  return Object.fromEntries(
    kept.map(([key, each]) => [key, isIssued(key) ? each : normalize(each, redact, below(key))]),
  );
}

/** Redacts all strings in a value, including those of issued fields. */
export function redactAll(value: unknown, redact: Redact): unknown {
  return normalize(value, redact, NONE);
}

interface TimedEvent {
  readonly ms: number;
  readonly event: Record<string, unknown>;
}

/** The field that contains a delta's text, by the delta's type. */
const TEXT_OF: Readonly<Record<string, string>> = {
  text_delta: "text",
  thinking_delta: "thinking",
  input_json_delta: "partial_json",
};

/**
 * Redacts a stream's events. A secret may span several deltas, so if a block needs redaction, its first delta receives
 * the whole redacted text and its other deltas are dropped.
 */
export function redactEvents(events: readonly TimedEvent[], redact: Redact): TimedEvent[] {
  const texts = new Map<unknown, string>();
  for (const { event } of events) {
    const text = deltaText(event);
    if (text !== undefined) texts.set(event["index"], (texts.get(event["index"]) ?? "") + text);
  }
  const reported = new Set<unknown>();
  return events.flatMap(({ ms, event }) => {
    const { index } = event;
    const whole = texts.get(index) ?? "";
    if (deltaText(event) === undefined || redact(whole) === whole)
      return [{ ms, event: isDelta(event) ? event : (normalize(event, redact) as Record<string, unknown>) }];
    if (reported.has(index)) return [];
    reported.add(index);
    const delta = event["delta"] as Record<string, unknown>;
    const field = TEXT_OF[String(delta["type"])] ?? "";
    return [{ ms, event: { ...event, delta: { ...delta, [field]: redact(whole) } } }];
  });
}

function isDelta(event: Record<string, unknown>): boolean {
  return event["type"] === "content_block_delta";
}

function deltaText(event: Record<string, unknown>): string | undefined {
  const { delta } = event;
  if (!isDelta(event) || !isRecord(delta)) return undefined;
  const text = delta[TEXT_OF[String(delta["type"])] ?? ""];
  return typeof text === "string" ? text : undefined;
}

/** Whether the last digit is a valid check digit of a payment card (Luhn). */
function isCard(text: string): boolean {
  const digits = text.replace(/\D/g, "").split("").toReversed().map(Number);
  const sum = digits.reduce((total, digit, index) => {
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

function global(pattern: RegExp): RegExp {
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`);
}
