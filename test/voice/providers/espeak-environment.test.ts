import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { EspeakSynthesizer } from "../../../src/voice/providers/espeak/espeak-synthesizer.ts";
import { tempFolder } from "../../support/temp-folder.ts";

async function* words() {
  yield "Hello.";
}

test("espeak-ng gets none of our keys", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "espeak-ng");
  const environmentFile = join(folder.path, "environment");
  await writeFile(path, `#!/bin/sh\nenv > ${environmentFile}\ncat > /dev/null\nexit 1\n`, { mode: 0o755 });
  vi.stubEnv("ANTHROPIC_API_KEY", "sk-secret");

  const frames = new EspeakSynthesizer({ kind: "program", path }, "en").speak(words(), {
    language: "en",
    signal: new AbortController().signal,
  });
  await expect(frames.next()).rejects.toThrow("espeak-ng failed");
  vi.unstubAllEnvs();

  const environment = await readFile(environmentFile, "utf8");
  expect(environment).toContain("PATH=");
  expect(environment).not.toContain("secret");
});
