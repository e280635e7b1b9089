import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readRecorded, toDocs } from "../../bench/report/record.ts";
import { readTalksRecord, writeTalks } from "../../bench/report/talks-record.ts";
import { readVoiceRecord, writeVoice } from "../../bench/report/voice-record.ts";

test("the performance page and its charts match the recorded run", async () => {
  const recorded = await readRecorded();
  if (!recorded) throw new Error("There is no recorded run");

  const docs = await toDocs(recorded);

  expect(Object.fromEntries([...docs.keys()].map((path) => [path, readFileSync(path, "utf8")]))).toEqual(
    Object.fromEntries(docs),
  );
});

test("every speech figure on the voice page matches the recorded benchmarks", async () => {
  const page = readFileSync("docs/voice.md", "utf8");
  const recorded = await readVoiceRecord();

  expect(page).toBe(writeVoice(page, recorded));

  const later = { ...recorded.coughs, lost: 3 };
  const written = writeVoice(page, { ...recorded, answer: { "it is heard": [1, 22, 3_333] }, coughs: later });
  expect(written).toContain("| it is heard | 1     | 22     | 3,333 |");
  expect(written).toContain("-->3 of 200 coughs");
  expect(() => writeVoice(page.replace("recorded: beside -->", "recorded: besides -->"), recorded)).toThrow(TypeError);
});

test("the page on long conversations has the figures that the restore and notes benchmarks recorded", async () => {
  const page = readFileSync("docs/long-talks.md", "utf8");
  const recorded = await readTalksRecord();

  expect(page).toBe(writeTalks(page, recorded));

  const { restore } = recorded;
  expect(writeTalks(page, { ...recorded, restore: { ...restore, kilobytes: [7, 4_321] } })).toMatch(
    /kB +\| 7 +\| 4321/u,
  );
});
