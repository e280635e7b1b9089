import { expect, test } from "vitest";
import { type TimedCall, toWaterfall as toTranslatedWaterfall } from "../../web/src/panels/developer/waterfall.ts";
import { en } from "../../web/src/shared/words/en.ts";
import type { TurnTimings } from "@parley/react";

const ZERO = 1_000_000;
const turn = (parts: TurnTimings["parts"], totalMs = 1_000): TurnTimings => ({ startedAt: ZERO, totalMs, parts });
const scan: TimedCall = { id: "call", toolUseId: "use", name: "scan", status: "success" };
const ids = { callId: "call" };
const use = { ...ids, toolUseId: "use" };

const toWaterfall = (timings: TurnTimings, calls: readonly TimedCall[]) =>
  toTranslatedWaterfall(timings, calls, en.developer.bars);
const barsOf = (timings: TurnTimings, calls: readonly TimedCall[] = [scan]) =>
  toWaterfall(timings, calls).bars.map(({ name, fromMs, toMs }) => [name, fromMs, toMs]);

test("a typed turn shows each model call up to its first word and after it, and each tool call", () => {
  const timings = turn([
    { span: "chat", fromMs: 0, firstMs: 40, toMs: 60 },
    { span: "execute_tool", fromMs: 55, toMs: 290, ...use },
    { span: "chat", fromMs: 295, firstMs: 400, toMs: 900 },
  ]);

  expect(toWaterfall(timings, [scan])).toEqual({
    totalMs: 1_000,
    bars: [
      { name: "Model, until its first word", kind: "wait", fromMs: 0, toMs: 40 },
      { name: "Model", kind: "model", fromMs: 40, toMs: 60 },
      { name: "scan: runs", kind: "tool", fromMs: 55, toMs: 290 },
      { name: "Model, until its first word", kind: "wait", fromMs: 295, toMs: 400 },
      { name: "Model", kind: "model", fromMs: 400, toMs: 900 },
    ],
  });
});

test("a call waits for a permission, for a device and for its start before it runs", () => {
  const timings = turn([
    { span: "execute_tool", fromMs: 10, toMs: 250, ...use },
    { span: "parley.permission", fromMs: 20, toMs: 120, ...ids },
    { span: "parley.claim", fromMs: 120, toMs: 150, ...ids },
  ]);

  expect(barsOf(timings, [{ ...scan, startedAt: ZERO + 160 }])).toEqual([
    ["scan: waits for permission", 20, 120],
    ["scan: waits for a device", 120, 150],
    ["scan: waits", 150, 160],
    ["scan: runs", 160, 250],
  ]);
});

test("requests that a call makes while it runs are within its run", () => {
  const timings = turn([
    { span: "execute_tool", fromMs: 10, toMs: 500, ...use },
    { span: "parley.permission", fromMs: 200, toMs: 400, ...ids },
  ]);

  expect(barsOf(timings, [{ ...scan, startedAt: ZERO + 10 }])).toEqual([
    ["scan: runs", 10, 500],
    ["scan: waits for permission", 200, 400],
  ]);
});

test("a refused call has not run", () => {
  const timings = turn([
    { span: "execute_tool", fromMs: 10, toMs: 120, ...use },
    { span: "parley.permission", fromMs: 10, toMs: 120, ...ids },
  ]);

  expect(barsOf(timings)).toEqual([["scan: waits for permission", 10, 120]]);
});

test("a call that its turn did not wait for ends at its own recorded time, with a late answer after it", () => {
  const extraAnswers = [{ kind: "late", success: true, at: ZERO + 5_000 }];
  const timings = turn([{ span: "execute_tool", fromMs: 10, ...use }]);

  expect(barsOf(timings)).toEqual([["scan: runs", 10, 1_000]]);
  expect(barsOf(timings, [{ ...scan, status: "error", finishedAt: ZERO + 3_000, extraAnswers }])).toEqual([
    ["scan: runs", 10, 3_000],
    ["scan: late answer", 3_000, 5_000],
  ]);
});

test("a device's confirmation of a cancel is not a late answer, and an older worker records no time for one", () => {
  const timings = turn([{ span: "execute_tool", fromMs: 10, toMs: 20, ...use }]);
  const extra = (status: string, answer: { success: boolean; at?: number }) => {
    return { ...scan, status, extraAnswers: [{ kind: "late", ...answer }] };
  };

  expect(barsOf(timings, [extra("cancelled", { success: false, at: ZERO + 30 })])).toEqual([["scan: runs", 10, 20]]);
  expect(barsOf(timings, [extra("error", { success: true })])).toEqual([["scan: runs", 10, 20]]);
});

test("a spoken turn starts with what was heard, and shows the time to the first sound", () => {
  const parts = [
    { span: "parley.hearing", fromMs: -1_500, firstMs: -550, toMs: 0 },
    { span: "chat", fromMs: 2, firstMs: 302, toMs: 700 },
    { span: "parley.speech", fromMs: 1, firstMs: 500, toMs: 1_000 },
  ];
  const timings = { ...turn(parts), firstTextMs: 310 };

  expect(toWaterfall(timings, []).totalMs).toBe(2_500);
  expect(barsOf(timings)).toEqual([
    ["Heard", 0, 950],
    ["Wait for the end of the turn", 950, 1_500],
    ["Model, until its first word", 1_502, 1_802],
    ["Model", 1_802, 2_200],
    ["Wait for the first sound", 1_810, 2_000],
    ["Speech", 2_000, 2_500],
  ]);
});

test("speech before the answer's first words, such as a question, shows its time to the first sound from the turn's start", () => {
  const timings = { ...turn([{ span: "parley.speech", fromMs: 1, firstMs: 500, toMs: 1_000 }]), firstTextMs: 700 };

  expect(barsOf(timings)).toEqual([
    ["Wait for the first sound", 1, 500],
    ["Speech", 500, 1_000],
  ]);
});

test("a form, a call about which nothing is known, and parts from newer workers", () => {
  const timings = turn([
    { span: "execute_tool", fromMs: 10, toMs: 20, callId: "other", toolUseId: "form:call:1" },
    { span: "execute_tool", fromMs: 30, toMs: 40, toolUseId: "srvtoolu" },
    { span: "parley.newer", fromMs: 50, toMs: 60 },
  ]);

  expect(barsOf(timings)).toEqual([
    ["ask_user: runs", 10, 20],
    ["A tool: runs", 30, 40],
  ]);
});

test("a turn from an earlier version only has its total time", () => {
  expect(toWaterfall(turn([]), [])).toEqual({ totalMs: 1_000, bars: [] });
});
