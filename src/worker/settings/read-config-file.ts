import { access } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { AppError } from "../../errors/app-error.ts";
import { describeIssue } from "../../lib/checks/describe-issue.ts";
import { describeImportError } from "../../lib/modules/import-error.ts";
import { type ConfigFileValues, configFileSchema } from "../config-file.ts";

/**
 * Imports and checks the config file.
 *
 * @param setting the variable or option that sets the path, for errors
 * @throws {AppError} `invalid_config` naming the file or the field, what was expected, and the value
 */
export async function readConfigFile(path: string, setting = "PARLEY_CONFIG"): Promise<ConfigFileValues> {
  await access(path).catch((error: unknown) => {
    throw new AppError("invalid_config", `${setting}: expected a config file at ${path}, got none`, {
      cause: error,
    });
  });
  const module = await import(pathToFileURL(path).href).catch((error: unknown) => {
    const reason = describeImportError(error);
    throw new AppError("invalid_config", `${path}: cannot be loaded: ${reason}`, { cause: error });
  });
  return checkConfig((module as { default?: unknown }).default, path);
}

/** Checks the default export of a config file. @param path for errors. @throws {AppError} as `readConfigFile` */
export function checkConfig(value: unknown, path: string): ConfigFileValues {
  const parsed = configFileSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `${path}: ${describeIssue(issue, value, configFileSchema)}`);
  throw new AppError("invalid_config", lines.join("\n"), { cause: parsed.error });
}
