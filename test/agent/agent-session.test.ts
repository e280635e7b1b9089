import { expect, test } from "vitest";
import { localTimeAt } from "../../src/agent/agent-session.ts";

const MOMENT = new Date("2026-11-22T23:30:00Z");

test.each([
  ["Europe/Berlin", { date: "2026-11-23", weekday: "Monday", hour: 0, timeZone: "Europe/Berlin" }],
  ["America/New_York", { date: "2026-11-22", weekday: "Sunday", hour: 18, timeZone: "America/New_York" }],
  ["Asia/Kolkata", { date: "2026-11-23", weekday: "Monday", hour: 5, timeZone: "Asia/Kolkata" }],
])("local time in %s", (timeZone, local) => {
  expect(localTimeAt(MOMENT, timeZone)).toEqual(local);
});

test.each([undefined, "Mars/Olympus", "../../etc"])(
  "with an invalid time zone (%s), the local time is UTC",
  (timeZone) => {
    expect(localTimeAt(MOMENT, timeZone)).toEqual({ date: "2026-11-22", weekday: "Sunday", hour: 23, timeZone: "UTC" });
  },
);
