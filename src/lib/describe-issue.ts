import type { z } from "zod";

/** For example `model.maxTokens: expected number, got "many"`. */
export function describeIssue(issue: z.core.$ZodIssue, root: unknown): string {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `${[...path, key].join(".")}: expected no such field, got one`).join("; ");
  }
  let value: unknown = root;
  for (const key of issue.path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  const reason = issue.message.replace(/^[A-Z][a-z ]*: /, "").replace(/, received .*$/, "");
  return `${path.join(".") || "default export"}: ${reason}, got ${preview(value)}`;
}

function preview(value: unknown): string {
  const text = typeof value === "function" ? "a function" : (JSON.stringify(value) ?? "nothing");
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
