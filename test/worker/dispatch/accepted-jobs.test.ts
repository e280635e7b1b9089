import { expect, test } from "vitest";
import { AcceptedJobs } from "../../../src/worker/dispatch/accepted-jobs.ts";

const job = (id: string) => ({ id, room: `room of ${id}`, identity: `agent-${id}` });
const NONE: ReadonlySet<string> = new Set();

test("a job counts from the moment it is accepted, before it runs", () => {
  const jobs = new AcceptedJobs(10);
  jobs.add(job("a"));
  jobs.add(job("b"));

  expect(jobs.takeEnded(new Set(["a"]))).toEqual([]);
  expect(jobs.size).toBe(2);
});

test("a job that has finished running is returned once, and no longer counts", () => {
  const jobs = new AcceptedJobs(10);
  jobs.add(job("a"));
  jobs.takeEnded(new Set(["a"]));

  expect(jobs.takeEnded(NONE)).toMatchObject([job("a")]);
  expect(jobs.takeEnded(NONE)).toEqual([]);
  expect(jobs.size).toBe(0);
});

test("a job that does not start running within a minute counts as ended", () => {
  let now = 0;
  const jobs = new AcceptedJobs(10, () => now);
  jobs.add(job("a"));

  now = 60_000;
  expect(jobs.takeEnded(NONE)).toEqual([]);
  now = 60_001;
  expect(jobs.takeEnded(NONE)).toMatchObject([job("a")]);
});

test("that all places were taken is remembered for a while after one is free again", () => {
  let now = 0;
  const jobs = new AcceptedJobs(1, () => now);
  expect([jobs.isFull, jobs.wasFullWithin(10)]).toEqual([false, false]);
  jobs.add(job("a"));
  jobs.takeEnded(new Set(["a"]));
  now = 100;
  expect([jobs.isFull, jobs.wasFullWithin(10)]).toEqual([true, true]);

  jobs.takeEnded(NONE);
  now = 109;
  expect([jobs.isFull, jobs.wasFullWithin(10)]).toEqual([false, true]);
  now = 110;
  expect(jobs.wasFullWithin(10)).toBe(false);
});
