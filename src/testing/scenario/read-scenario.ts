import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { z } from "zod";
import { AppError } from "../../errors/app-error.ts";
import { type Scenario, scenarioSchema } from "./schema.ts";

/** @throws {AppError} `invalid_config` naming the file, the place and what was expected there */
export async function readScenario(file: string): Promise<Scenario> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new AppError("invalid_config", `${file}: cannot be read`, { cause: error });
  });
  return parseScenario(text, file);
}

/** @param file is named in errors */
export function parseScenario(text: string, file: string): Scenario {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw new AppError("invalid_config", `${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = scenarioSchema.safeParse(value);
  if (!parsed.success) throw new AppError("invalid_config", `${file}:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
