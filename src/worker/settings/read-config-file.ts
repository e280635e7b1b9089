import { access } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { type z } from "zod";
import { AppError } from "../../errors/app-error.ts";
import { type ConfigFileValues, configFileSchema } from "../config-file.ts";

/** @throws {AppError} `invalid_config` naming the file or the field, what was expected, and the value */
export async function readConfigFile(path: string): Promise<ConfigFileValues> {
  await access(path).catch((error: unknown) => {
    throw new AppError("invalid_config", `PARLEY_CONFIG: expected a config file at ${path}, got none`, {
      cause: error,
    });
  });
  const module = await import(pathToFileURL(path).href).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError("invalid_config", `${path}: cannot be loaded: ${reason}`, { cause: error });
  });
  return checkConfig((module as { default?: unknown }).default, path);
}

/** @param path for messages. @throws {AppError} as `readConfigFile` */
export function checkConfig(value: unknown, path: string): ConfigFileValues {
  const parsed = configFileSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `${path}: ${describe(issue, value)}`);
  throw new AppError("invalid_config", lines.join("\n"), { cause: parsed.error });
}

/** For example `model.maxTokens: expected number, got "many"`. */
function describe(issue: z.core.$ZodIssue, root: unknown): string {
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
