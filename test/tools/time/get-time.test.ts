import { expect, test } from "vitest";
import { timeIn } from "../../../tools/time/_time-in.ts";
import getTime from "../../../tools/time/get-time.ts";
import { runTool } from "../run-tool.ts";

const summer = new Date("2026-07-01T22:30:05Z");

test("in a zone east of Greenwich it may already be tomorrow", () => {
  expect(timeIn("Europe/Berlin", summer)).toEqual({
    timeZone: "Europe/Berlin",
    date: "2026-07-02",
    time: "00:30:05",
    weekday: "Thursday",
    utcOffset: "+02:00",
    iso: "2026-07-02T00:30:05+02:00",
  });
});

test.each([
  ["UTC", "2026-07-01T22:30:05+00:00"],
  ["America/St_Johns", "2026-07-01T20:00:05-02:30"],
  ["Asia/Kathmandu", "2026-07-02T04:15:05+05:45"],
  ["Pacific/Kiritimati", "2026-07-02T12:30:05+14:00"],
])("%s shows its own clock", (timeZone, iso) => {
  expect(timeIn(timeZone, summer).iso).toBe(iso);
});

test("every zone that the platform supports gives the same moment", () => {
  for (const timeZone of Intl.supportedValuesOf("timeZone")) {
    expect(Date.parse(timeIn(timeZone, summer).iso)).toBe(summer.getTime());
  }
});

test.each(["Mars/Olympus", "", " ", "Europe/Berlin; drop", "__proto__", "CEST?", "\u0000", "x".repeat(10_000)])(
  "the error for the unknown zone %j contains it",
  async (timeZone) => {
    const shown = JSON.stringify(timeZone.slice(0, 64));
    await expect(runTool(getTime, { timeZone })).rejects.toThrow(`Unknown time zone ${shown}: use an IANA name`);
  },
);

test("without a zone the time is the current UTC time", async () => {
  const time = await runTool(getTime, {});
  expect(time).toMatchObject({ timeZone: "UTC", utcOffset: "+00:00" });
  expect(Math.abs(Date.parse((time as { iso: string }).iso) - Date.now())).toBeLessThan(5_000);
});

test("the operator chooses the default zone", async () => {
  const settings = { defaultTimeZone: "Asia/Tokyo" };
  expect(await runTool(getTime, {}, { settings })).toMatchObject({ timeZone: "Asia/Tokyo", utcOffset: "+09:00" });
});

test("a bad default zone is detected when the settings are read", async () => {
  const settings = { defaultTimeZone: "Nowhere" };
  await expect(runTool(getTime, {}, { settings })).rejects.toThrow("must be an IANA time zone");
});
