import { readFile, writeFile } from "node:fs/promises";
import { z } from "zod";
import { AppError } from "../../errors/app-error.ts";

const fields = z.record(z.string(), z.unknown());

/** The latest time of an event. No turn lasts an hour, and a timer longer than Node's maximum would fire at once. */
const MAX_MS = 3_600_000;

const callSchema = z.strictObject({
  path: z.string(),
  /** The agent's request after `normalize`. Fields that are missing here are not compared. */
  request: fields,
  status: z.number().int().min(200).max(599),
  /** A stream's events, each with the milliseconds since the request. */
  events: z.array(z.strictObject({ ms: z.number().min(0).max(MAX_MS), event: fields })).optional(),
  /** Whether the agent aborted the stream, which therefore has no end. */
  isCut: z.boolean().optional(),
  /** The body of a response that is not a stream. */
  body: z.unknown().optional(),
});

const cassetteSchema = z.strictObject({ version: z.literal(1), calls: z.array(callSchema) });

/** A recorded model call. */
export type RecordedCall = z.output<typeof callSchema>;

/** @throws {AppError} `invalid_config` if the file is missing or is not a cassette of this version */
export async function readCassette(file: string): Promise<RecordedCall[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    const how = "to record it, run the test with PARLEY_RECORD=1 and ANTHROPIC_API_KEY";
    throw new AppError("invalid_config", `The cassette ${file} does not exist: ${how}`, { cause: error });
  });
  try {
    return cassetteSchema.parse(JSON.parse(text)).calls;
  } catch (error) {
    throw new AppError("invalid_config", `${file}: not a cassette of this version`, { cause: error });
  }
}

/** Writes each event on its own line, so that a diff of two recordings is readable. */
export async function writeCassette(file: string, calls: readonly RecordedCall[]): Promise<void> {
  await writeFile(file, toCassetteText(calls));
}

export function toCassetteText(calls: readonly RecordedCall[]): string {
  const texts = calls.map(({ events, ...call }) => {
    if (!events) return JSON.stringify(call, null, 2);
    const lines = events.map((each) => `    ${JSON.stringify(each)}`).join(",\n");
    return `${JSON.stringify(call, null, 2).slice(0, -2)},\n  "events": [\n${lines}\n  ]\n}`;
  });
  return `{\n"version": 1,\n"calls": [\n${texts.join(",\n")}\n]\n}\n`;
}
