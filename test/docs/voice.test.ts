import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { SPEECH_PROVIDERS, STT_NAMES, TTS_NAMES } from "../../src/voice/providers/provider-list.ts";

/**
 * A cell of the table: a dash if the provider is not one of `names`, otherwise its name and whether it is a default.
 * `otherwise` is the default if the embedded models are missing.
 */
function describeProvider(names: readonly string[], otherwise: string, name: string): string {
  if (!names.includes(name)) return "–";
  const note = { embedded: " (default)", [otherwise]: " (default otherwise)" }[name] ?? "";
  return `\`${name}\`${note}`;
}

test("docs/voice.md describes what every provider can do, and its key and variables", async () => {
  const page = await readFile("docs/voice.md", "utf8");
  const table = /^\| `STT` \| `TTS` \|[^]*?(?=\n\n)/mu.exec(page)?.[0] ?? "";
  const rows = table.split("\n").slice(2);

  expect(rows.map((row) => row.split(" | ").slice(0, 2).join(" | "))).toEqual(
    SPEECH_PROVIDERS.map(({ name }) => {
      const listens = describeProvider(STT_NAMES, "none", name);
      return `| ${listens} | ${describeProvider(TTS_NAMES, "espeak", name)}`;
    }),
  );
  const needed = SPEECH_PROVIDERS.map((provider) => [
    ...("key" in provider ? [`\`${provider.key}\``] : []),
    ...("hasBaseUrl" in provider ? ["`STT_BASE_URL` / `TTS_BASE_URL`"] : []),
  ]);
  expect(rows.filter((row, index) => !needed[index]?.every((text) => row.includes(text)))).toEqual([]);
});

test(".env.example lists all providers for listening and for speaking", async () => {
  const text = await readFile(".env.example", "utf8");
  const either = (names: readonly string[]) => names.join(", ").replace(/, ([^,]*)$/u, " or $1");

  expect(text).toContain(`Who listens: ${either(STT_NAMES)}.`);
  expect(text).toContain(`Who speaks: ${either(TTS_NAMES)}.`);
});
