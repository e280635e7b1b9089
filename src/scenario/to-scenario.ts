import { isDeepStrictEqual } from "node:util";
import { textsOf, toolUseId } from "../conversation/block.ts";
import { contentText } from "../conversation/content.ts";
import { inputText, type TurnRecord } from "../conversation/turn-record.ts";
import { asText, type JsonObject, type JsonValue } from "../lib/json.ts";
import type { ServerTool } from "../tool/server-tool.ts";
import type { StoredCall } from "../store/turns/load-recorded-calls.ts";
import { LONGEST_SILENCE_MS, type ModelCall, modelCalls } from "./playable.ts";
import { type Redact, redactAll } from "./redact.ts";

interface Recorded {
  readonly name: string;
  /** The path of the agent's config, relative to the scenario file. @defaultValue the config in that file's folder */
  readonly config?: string;
  /** The cassette's path, relative to the scenario file. @defaultValue none: the turns contain the model's replies */
  readonly cassette?: string;
  readonly turns: readonly TurnRecord[];
  readonly calls: readonly StoredCall[];
  /** When each block was stored, in milliseconds since its turn began. Keyed by the turn's position. */
  readonly times: ReadonlyMap<number, readonly number[]>;
  /** The agent's own tools. The test defines stand-ins for all others, such as those of an MCP server. */
  readonly ownTools: ReadonlyMap<string, ServerTool>;
  readonly redact: Redact;
}

/**
 * Converts stored turns to a test's YAML form: the participant's messages, the device's answers and the expectations.
 */
export function toScenario({ name, config, cassette, turns, calls, times, ownTools, redact }: Recorded): object {
  const ran = (where: "server" | "client") => calls.filter((call) => call.ranOn === where);
  const reported = reportedResults(turns);
  // A tool that is not the agent's own needs a description, and keeps its recorded timeout.
  const behaviors = (where: "server" | "client") =>
    Object.entries(Object.groupBy(ran(where), ({ name: tool }) => tool)).map(([tool, list = []]) => {
      const announced = ({ timeoutMs }: StoredCall) =>
        ownTools.has(tool) ? {} : { description: `${tool}, as it was recorded.`, timeout_ms: timeoutMs };
      return [tool, list.map((call) => ({ ...toBehavior(call, reported), ...announced(call) }))] as const;
    });
  const mocks = behaviors("server");
  const device = behaviors("client");
  const scenario = {
    name,
    ...(config !== undefined && { config }),
    ...(cassette !== undefined && { cassette, timed: true }),
    ...(mocks.length > 0 && { mocks: Object.fromEntries(mocks) }),
    ...(device.length > 0 && { device: Object.fromEntries(device) }),
    turns: turns.map((turn) => {
      const own = calls.filter(({ position }) => position === turn.position);
      const replies = modelCalls(turn, times.get(turn.position) ?? []);
      const { user, ...rest } = toTurn({ turn, calls: own, replies }, ownTools);
      return {
        ...(user !== undefined && { user }),
        ...(cassette === undefined && replies.length > 0 && { model: replies.map(toReply) }),
        ...rest,
      };
    }),
  };
  return redactAll(scenario, redact) as object;
}

/** The shortest delay that is replayed. Shorter delays came from the network and the worker. */
const SHORTEST_WAIT_MS = 50;

/** Returns the reply from one model call, without thinking. */
function toReply({ blocks, writtenMs }: ModelCall): object {
  const say = textsOf(blocks);
  const use = blocks.flatMap(({ blockType, content }) =>
    blockType === "tool_use" ? { [asText(content?.["tool_name"])]: content?.["input"] ?? {} } : [],
  );
  const late = Math.min(writtenMs.at(-1) ?? 0, LONGEST_SILENCE_MS);
  return {
    ...((say.length > 0 || use.length === 0) && { say: say.join("") }),
    ...(use.length > 0 && { use }),
    ...(late >= SHORTEST_WAIT_MS && { late }),
  };
}

/** How long a turn's tools and model may have taken before the turn gets its own timeout. */
const SHORT_TURN_MS = 20_000;

interface StoredTurn {
  readonly turn: TurnRecord;
  readonly calls: readonly StoredCall[];
  readonly replies: readonly ModelCall[];
}

interface ScenarioTurn {
  /** Absent for a greeting. */
  readonly user?: string;
  readonly [field: string]: unknown;
}

function toTurn({ turn, calls, replies }: StoredTurn, ownTools: Recorded["ownTools"]): ScenarioTurn {
  const asking = calls.filter(({ permission }) => permission);
  // A test starts without grants, so it must answer the permission requests of calls that a grant allowed.
  const granted = calls.filter(
    ({ name, errorCode }) => ownTools.get(name)?.permission && errorCode !== "permission_denied",
  );
  const answers = [
    ...granted.map(({ name }) => [name, "approve"]),
    ...asking.map((call) => [call.name, toAnswer(call)]),
  ];
  const toolsMs = calls.reduce((sum, { tookMs }) => sum + (tookMs ?? 0), 0);
  const modelMs = replies.reduce((sum, { writtenMs }) => sum + (writtenMs.at(-1) ?? 0), 0);
  const tookMs = toolsMs + modelMs;
  const isLong = tookMs > SHORT_TURN_MS || calls.some(({ errorCode }) => errorCode === "timeout");
  const words = turn.blocks.findLast(({ blockType }) => blockType === "text")?.textContent ?? "";
  const expected = calls.map(({ name, input, errorCode }) => ({
    name,
    args: literal(input),
    ...(errorCode !== null && { error: errorCode }),
  }));
  return {
    ...(turn.parentMessageId !== null && { user: inputText(turn.input) }),
    ...(isLong && { timeout_ms: 120_000 + tookMs }),
    ...(answers.length > 0 && { permission: Object.fromEntries(answers) as object }),
    expect: [
      ...(expected.length > 0 ? [{ calls: expected }] : []),
      ...(asking.length > 0 ? [{ asked: asking.map(({ name }) => name) }] : []),
      ...(words === "" ? [] : [{ say: literal(words) }]),
    ],
  };
}

function toAnswer({ permission }: StoredCall): object | string {
  const { state, isAlways, message, editedInput } = permission ?? { state: "expired" };
  const answer = state === "approved" ? (isAlways ? "always" : "approve") : state === "rejected" ? "reject" : "none";
  const more = { ...(message && { message }), ...(editedInput && { edited_input: editedInput }) };
  return Object.keys(more).length > 0 ? { answer, ...more } : answer;
}

/** Returns the text of each result as the model read it, by tool use id. */
function reportedResults(turns: readonly TurnRecord[]): ReadonlyMap<string, string> {
  const results = turns.flatMap(({ blocks }) => blocks.filter(({ blockType }) => blockType === "tool_result"));
  return new Map(results.map((block) => [toolUseId(block) ?? "", contentText(block.content?.["content"])]));
}

function toBehavior(call: StoredCall, reported: ReadonlyMap<string, string>): object {
  const { state, result, tookMs, errorCode, errorMessage, isDoubled } = call;
  if (state === "success") {
    const isLate = tookMs !== null && tookMs >= SHORTEST_WAIT_MS;
    const how = isDoubled ? { twice: true } : isLate ? { late: tookMs } : {};
    return { answer: inOrder(result ?? {}, reported.get(call.toolUseId)), ...how };
  }
  if (errorCode === "timeout") return { never: true };
  if (errorCode === "client_disconnected") return { leave: true };
  return { throws: { message: errorMessage ?? "", code: errorCode ?? "execution_error" } };
}

/**
 * Restores the order of a result's keys, which the database does not keep. The order is taken from the text that the
 * model read, so a truncated text restores nothing.
 */
function inOrder(result: JsonObject, reported = ""): JsonObject {
  try {
    const parsed = JSON.parse(reported) as JsonObject;
    return isDeepStrictEqual(parsed, result) ? parsed : result;
  } catch {
    return result;
  }
}

/**
 * Escapes a string that begins and ends with a slash. Otherwise, a test would read the string as a regular expression.
 */
function literal(value: JsonValue): JsonValue {
  if (typeof value === "string") return /^\/.+\/[a-z]*$/su.test(value) ? `/^${escape(value)}$/` : value;
  if (Array.isArray(value)) return value.map(literal);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, literal(each)]));
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
