import { z } from "zod";
import { answer, type Behavior, late, leave, never, throws, twice } from "../device/behavior.ts";
import type { JsonObject } from "../../lib/json.ts";

const ms = z.number().int().nonnegative();
const map = z.record(z.string(), z.json());

/** A string. Between slashes it is a regular expression, such as `/par(is|ma)/i`. */
const pattern = z.string().transform((text, context) => {
  try {
    return toPattern(text);
  } catch (error) {
    context.addIssue(`${text} is not a regular expression: ${(error as Error).message}`);
    return z.NEVER;
  }
});

const behavior = z
  .strictObject({
    answer: z.json().optional(),
    late: ms.optional(),
    twice: z.literal(true).optional(),
    never: z.literal(true).optional(),
    leave: z.union([z.literal(true), z.strictObject({ back_after_ms: ms })]).optional(),
    throws: z.union([z.string(), z.strictObject({ message: z.string(), code: z.string().exactOptional() })]).optional(),
    description: z.string().exactOptional(),
    input: map.exactOptional(),
    timeout_ms: z.number().int().positive().exactOptional(),
  })
  .transform((form, context): Behavior => {
    const { answer: value, description, input, timeout_ms: timeoutMs } = form;
    const announced = {
      ...(description !== undefined && { description }),
      ...(input !== undefined && { input: input as JsonObject }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    };
    const ways = (["late", "twice", "never", "leave", "throws"] as const).filter((name) => form[name] !== undefined);
    if (ways.length > 1 || (ways.length === 0 && value === undefined)) {
      context.addIssue("expected answer, or one of late, twice, never, leave and throws");
      return z.NEVER;
    }
    if (form.late !== undefined) return late(form.late, value, announced);
    if (form.twice) return twice(value, announced);
    if (form.never) return never(announced);
    if (form.leave === true) return leave(announced);
    if (form.leave) return leave({ ...announced, backAfterMs: form.leave.back_after_ms, value });
    if (typeof form.throws === "string") return throws(form.throws, announced);
    if (form.throws) {
      const { message, ...code } = form.throws;
      return throws(message, { ...announced, ...code });
    }
    return answer(value, announced);
  });

/** One item or a list of items. */
const listOf = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (Array.isArray(value) ? (value as unknown[]) : [value]), z.array(schema).min(1));

/** Returns a schema that also accepts a string, in place of an object with only this field. */
const wordFor = <Schema extends z.ZodType>(field: string, schema: Schema) =>
  z.preprocess((value) => (typeof value === "string" ? { [field]: value } : value), schema);

/** Behaviors by tool name. A list contains one behavior per call. */
const tools = z.record(z.string(), listOf(behavior));

const ANY_TOOL = "*";
const permissionAnswer = z
  .strictObject({
    answer: z.enum(["approve", "always", "reject", "none"]).exactOptional(),
    /** An answer in words, such as "yes". */
    say: z.string().min(1).exactOptional(),
    message: z.string().exactOptional(),
    edited_input: map.exactOptional(),
  })
  .transform(({ answer: word, say, message, edited_input: editedInput }, context) => {
    if ((word === undefined) === (say === undefined)) {
      context.addIssue("expected answer or say");
      return z.NEVER;
    }
    return {
      answer: word ?? { say: say ?? "" },
      ...(message !== undefined && { message }),
      ...(editedInput !== undefined && { editedInput: editedInput as JsonObject }),
    };
  });
/** Permission answers by tool name. A string alone is the answer for all tools. */
const permission = wordFor(ANY_TOOL, z.record(z.string(), wordFor("answer", permissionAnswer))).transform((byTool) =>
  Object.entries(byTool).map(([tool, how]) => ({ ...how, ...(tool !== ANY_TOOL && { tool }) })),
);

const reply = wordFor(
  "say",
  z
    .strictObject({
      say: z.string().exactOptional(),
      use: listOf(z.record(z.string(), map)).exactOptional(),
      late: ms.exactOptional(),
    })
    .refine(({ say, use }) => say !== undefined || use !== undefined, "expected say, use or both")
    .transform(({ say, use, late: afterMs }) => ({
      ...(afterMs !== undefined && { afterMs }),
      ...(say !== undefined && { say }),
      ...(use !== undefined && { use: use as Record<string, JsonObject>[] }),
    })),
);

const call = wordFor(
  "name",
  z.strictObject({
    name: z.string(),
    args: z.json().transform(withPatterns).exactOptional(),
    result: z.json().transform(withPatterns).exactOptional(),
    error: z.string().exactOptional(),
    on: z.enum(["server", "client"]).exactOptional(),
  }),
);

const expectation = z
  .strictObject({
    say: listOf(pattern).exactOptional(),
    calls: listOf(call).exactOptional(),
    asked: listOf(z.string()).exactOptional(),
    state: z.enum(["completed", "interrupted", "failed", "cancelled"]).exactOptional(),
    within_ms: ms.exactOptional(),
    /** A statement about the turn, which a model judges. */
    judge: z.string().min(1).exactOptional(),
    absent: z.boolean().default(false),
  })
  .refine(({ absent, say, calls, asked }) => !absent || (say ?? calls ?? asked) !== undefined, {
    error: "absent: only allowed together with say, calls or asked",
  })
  .refine((each) => !each.absent || (each.state ?? each.within_ms ?? each.judge) === undefined, {
    error: "absent: not allowed together with state, within_ms or judge; move these to another expectation",
  });

const turn = z.strictObject({
  /** The participant's message. Absent for a turn that starts by itself. */
  user: z.string().min(1).exactOptional(),
  model: listOf(reply).exactOptional(),
  device: tools.exactOptional(),
  permission: permission.exactOptional(),
  expect: listOf(expectation).exactOptional(),
  /** How long the turn may take. */
  timeout_ms: z.number().int().positive().default(30_000),
});

export const scenarioSchema = z
  .strictObject({
    name: z.string().min(1).exactOptional(),
    /** The path of parley.config.ts. Like all paths, it is relative to the scenario's file. */
    config: z.string().min(1).exactOptional(),
    /** The agent that starts the session. */
    agent: z.string().min(1).exactOptional(),
    cassette: z.string().min(1).exactOptional(),
    /** Whether the cassette is replayed with its recorded delays. */
    timed: z.boolean().default(false),
    mocks: tools.default({}),
    device: tools.exactOptional(),
    permission: permission.exactOptional(),
    repeat: z.number().int().positive().default(1),
    turns: z.array(turn).min(1),
  })
  .refine(({ timed, cassette }) => !timed || cassette !== undefined, {
    error: "timed: only allowed together with cassette; to delay a reply in model, use late",
  });

export type Scenario = z.output<typeof scenarioSchema>;
export type ScenarioTurn = Scenario["turns"][number];
export type Expectation = NonNullable<ScenarioTurn["expect"]>[number];
export type ExpectedCall = NonNullable<Expectation["calls"]>[number];

function toPattern(text: string): string | RegExp {
  const [, source, flags] = /^\/(.+)\/([dgimsuvy]*)$/su.exec(text) ?? [];
  return source === undefined ? text : new RegExp(source, flags);
}

/** Replaces each string between slashes with a regular expression. */
function withPatterns(value: unknown): unknown {
  if (typeof value === "string") return toPattern(value);
  if (Array.isArray(value)) return value.map(withPatterns);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withPatterns(each)]));
}
