import { join } from "node:path";
import { expect, inject } from "vitest";
import { createToken } from "../support/participant.ts";
import { pythonForFile, startPython } from "../support/python.ts";

const SCENARIOS = join(import.meta.dirname, "python/scenarios.py");

interface Place {
  readonly url?: string;
  readonly token?: string;
}

/**
 * Starts programs that use the Python client, for the tests in the calling file. Without Python, these tests are
 * skipped.
 */
export function pythonPrograms() {
  const python = pythonForFile();

  const start = (args: readonly string[]) => startPython(python(), { args });

  /** Starts a scenario from scenarios.py in a room, and collects what it reports. */
  const play = async (name: string, roomName: string, { url = inject("livekitUrl"), token }: Place = {}) => {
    const args = [SCENARIOS, name, url, token ?? (await createToken(roomName, "python"))];
    const { stdout, stderr, ended, type } = start(args);
    const reports = () => stdout.map((line) => JSON.parse(line) as Record<string, unknown>);
    const untilReported = async (what: object, timeout = 15_000) => {
      await expect.poll(reports, { timeout }).toContainEqual(what);
    };
    const end = async () => {
      const { code } = await ended;
      return { code, stderr, reports: reports() };
    };
    return { reports, untilReported, cue: type, end };
  };

  return { start, play };
}
