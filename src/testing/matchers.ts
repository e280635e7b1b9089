import { fieldsOf, refuseUnknownFields } from "../lib/checks/did-you-mean.ts";
import { holds, matches } from "./matches.ts";
import { cutJson } from "../conversation/turn-lines.ts";
import { showTurn } from "./show-turn.ts";
import type { Question, SeenCall, Turn } from "./turn.ts";

/** What a test may check about a call besides its name and arguments. */
export type CallFields = Partial<Record<Exclude<keyof SeenCall, "name" | "input">, unknown>>;
export type QuestionFields = Partial<Record<Exclude<keyof Question, "tool">, unknown>>;

const CALL_FIELDS = fieldsOf<CallFields>({
  state: true,
  ranOn: true,
  result: true,
  display: true,
  errorCode: true,
  errorMessage: true,
});
const QUESTION_FIELDS = fieldsOf<QuestionFields>({ type: true, pattern: true, title: true, state: true });

type CallDetails = [input?: object, fields?: CallFields];

/** The fields that specify how a call ended. */
const ENDS: readonly (keyof CallFields)[] = ["state", "errorCode", "errorMessage"];

interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/**
 * Matchers for `expect.extend(matchers)` in Vitest or Jest. Arguments and results match if they contain everything
 * expected. A RegExp in place of a string may match any part of it. A failing matcher shows the whole turn.
 */
export const matchers = {
  /**
   * The model called this tool in the turn with these arguments, and the call ended as the fields specify. A failed
   * call counts only if the fields specify how it ended. For `not.toHaveCalled`, every call counts.
   */
  toHaveCalled(
    this: { readonly isNot?: boolean } | void,
    turn: Turn,
    ...[name, input = {}, fields = {}]: [name: string, ...CallDetails]
  ): MatcherResult {
    refuseUnknownFields(fields, CALL_FIELDS, "a call");
    const isAnyEnd = this?.isNot === true || ENDS.some((field) => field in fields);
    const pass = turn.calls.some(
      (call) => matches(call, { ...fields, name, input }) && (isAnyEnd || call.errorCode === undefined),
    );
    const more = Object.keys(fields).length === 0 ? "" : ` that ended with ${cutJson(fields)}`;
    return toResult(pass, `a call ${name} ${cutJson(input)}${more}`, turn);
  },

  /** The answer contains this string or matches this RegExp. */
  toSay(turn: Turn, expected: string | RegExp): MatcherResult {
    return toResult(holds(turn.text, expected), `the agent to say ${showText(expected)}`, turn);
  },

  /** The participant was asked for permission to run this tool. */
  toHaveAsked(turn: Turn, tool: string, fields: QuestionFields = {}): MatcherResult {
    refuseUnknownFields(fields, QUESTION_FIELDS, "a question");
    const pass = turn.asked.some((question) => matches(question, { ...fields, tool }));
    const more = Object.keys(fields).length === 0 ? "" : ` with ${cutJson(fields)}`;
    return toResult(pass, `a question for permission by ${tool}${more}`, turn);
  },
};

/** The matchers as methods of the object that `expect` returns. */
export interface TurnMatchers<Result = unknown> {
  toHaveCalled(name: string, ...details: CallDetails): Result;
  toSay(expected: string | RegExp): Result;
  toHaveAsked(tool: string, fields?: QuestionFields): Result;
}

function toResult(pass: boolean, what: string, turn: Turn): MatcherResult {
  return { pass, message: () => `expected ${pass ? "not " : ""}${what}. The turn was:\n${showTurn(turn)}` };
}

function showText(expected: string | RegExp): string {
  return typeof expected === "string" ? JSON.stringify(expected) : String(expected);
}
