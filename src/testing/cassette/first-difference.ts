import { isRecord } from "../../lib/json.ts";

const SHOWN = 60;

/** Describes the first difference between two values. Returns `undefined` if they are equal. */
export function firstDifference(recorded: unknown, now: unknown, path = ""): string | undefined {
  if (Array.isArray(recorded) && Array.isArray(now)) {
    for (const [index, each] of recorded.entries()) {
      const place = `${path}[${index}]`;
      if (index >= now.length) return `${place}: recorded ${show(each)}, now nothing`;
      const difference = firstDifference(each, now[index], place);
      if (difference !== undefined) return difference;
    }
    if (now.length === recorded.length) return undefined;
    return `${path}[${recorded.length}]: recorded nothing, now ${show(now[recorded.length])}`;
  }
  if (isRecord(recorded) && isRecord(now)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
      const difference = firstDifference(recorded[key], now[key], path === "" ? key : `${path}.${key}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  if (typeof recorded === "string" && typeof now === "string") return differentTexts(recorded, now, path);
  return Object.is(recorded, now) ? undefined : `${path}: recorded ${show(recorded)}, now ${show(now)}`;
}

/** Describes the first difference between two strings. Long strings are shown from shortly before the difference. */
function differentTexts(recorded: string, now: string, path: string): string | undefined {
  if (recorded === now) return undefined;
  let at = 0;
  while (recorded[at] === now[at]) at++;
  const from = Math.max(0, at - SHOWN / 3);
  const part = (text: string) => (from > 0 ? "…" : "") + text.slice(from);
  return `${path}: recorded ${show(part(recorded))}, now ${show(part(now))}`;
}

function show(value: unknown): string {
  const json = JSON.stringify(value) ?? "nothing";
  return json.length > SHOWN ? `${json.slice(0, SHOWN)}…` : json;
}
