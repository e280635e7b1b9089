import { holds, matches } from "../matches.ts";
import { cutJson, toTurnLine } from "../../conversation/turn-lines.ts";
import type { SeenCall, Turn } from "../turn.ts";
import type { Expectation, ExpectedCall } from "./schema.ts";

/** One difference between a turn and its expectations, as a line of a diff. */
export interface Problem {
  readonly part: "calls" | "asks" | "agent" | "end";
  readonly expected: string;
}

/**
 * Compares a turn with its expectations. The turn must have completed, unless an expectation specifies another state.
 */
export function checkTurn(turn: Turn, expectations: readonly Expectation[]): Problem[] {
  const saysState = expectations.some(({ state }) => state !== undefined);
  const problems = expectations.flatMap((each) => [...(each.absent ? checkAbsent : checkPresent)(turn, each)]);
  if (saysState || turn.state === "completed") return problems;
  return [...problems, { part: "end", expected: "completed" }];
}

function* checkPresent(turn: Turn, { say = [], calls = [], asked = [], state, ...times }: Expectation) {
  for (const each of say) if (!holds(turn.text, each)) yield problem("agent", String(each));
  let from = 0;
  for (const each of calls) {
    // A failed call matches only if its error is expected.
    const isExpected = (call: SeenCall) =>
      isSuch(call, each) && (call.errorCode === undefined || each.error !== undefined);
    const at = turn.calls.findIndex((call, index) => index >= from && isExpected(call));
    if (at < 0) yield problem("calls", showExpected(each));
    else from = at + 1;
  }
  for (const tool of asked) if (!turn.asked.some((question) => question.tool === tool)) yield problem("asks", tool);
  if (state !== undefined && turn.state !== state) yield problem("end", state);
  const { within_ms: withinMs } = times;
  if (withinMs !== undefined && turn.ms > withinMs)
    yield problem("end", `within ${withinMs} ms, but it took ${turn.ms}`);
}

function* checkAbsent(turn: Turn, { say = [], calls = [], asked = [] }: Expectation) {
  for (const each of say) if (holds(turn.text, each)) yield problem("agent", `not ${String(each)}`);
  for (const each of calls)
    if (turn.calls.some((call) => isSuch(call, each))) yield problem("calls", `no ${showExpected(each)}`);
  for (const tool of asked)
    if (turn.asked.some((question) => question.tool === tool)) yield problem("asks", `not ${tool}`);
}

function problem(part: Problem["part"], expected: string): Problem {
  return { part, expected };
}

function isSuch(call: SeenCall, { name, args, result, error, on }: ExpectedCall): boolean {
  return matches(call, {
    name,
    ...(args !== undefined && { input: args }),
    ...(result !== undefined && { result }),
    ...(error !== undefined && { errorCode: error }),
    ...(on !== undefined && { ranOn: on }),
  });
}

function showExpected({ name, args, result, error, on }: ExpectedCall): string {
  const show = (value: unknown) => cutJson(value, (each) => (each instanceof RegExp ? String(each) : each));
  return [
    name,
    ...(args === undefined ? [] : [show(args)]),
    ...(on === undefined ? [] : [on === "client" ? "on the device" : "on the server"]),
    ...(result === undefined ? [] : [`→ ${show(result)}`]),
    ...(error === undefined ? [] : [`→ ${error}`]),
  ].join(" ");
}

/** Shows the turn and its problems as a diff: `-` is what was expected, `+` what happened instead. */
export function diffTurn(turn: Turn, problems: readonly Problem[]): string {
  const parts = [
    { part: "calls", label: "calls: ", lines: turn.calls.map((call) => toTurnLine({ type: "call", call })) },
    { part: "asks", label: "asks:  ", lines: turn.asked.map((question) => toTurnLine({ type: "question", question })) },
    { part: "agent", label: "agent: ", lines: [toTurnLine({ type: "answer", text: turn.text })] },
    {
      part: "end",
      label: "end:   ",
      lines: [`end:   ${turn.error === undefined ? turn.state : `${turn.state}: ${turn.error}`}`],
    },
  ] as const;
  const lines = parts.flatMap(({ part, label, lines: actual }) => {
    const wrong = problems.filter((each) => each.part === part);
    const mark = wrong.length > 0 ? "+" : " ";
    return [...wrong.map(({ expected }) => `- ${label}${expected}`), ...actual.map((line) => `${mark} ${line}`)];
  });
  return [`  ${toTurnLine({ type: "said", text: turn.said })}`, ...lines].join("\n");
}
