import { isDeepStrictEqual } from "node:util";
import { textsOf, toolUseId } from "../conversation/block.ts";
import { contentText } from "../conversation/content.ts";
import { saidIn, type TurnRecord } from "../conversation/turn-record.ts";
import { asText, type JsonObject, type JsonValue } from "../lib/json.ts";
import type { ServerTool } from "../tool/server-tool.ts";
import type { StoredCall } from "../store/turns/load-recorded-calls.ts";
import { modelCalls } from "./playable.ts";
import { type Redact, redactAll } from "./redact.ts";

interface Recorded {
  readonly name: string;
  /** The path of the agent's config, from the file. @defaultValue the folder's own */
  readonly config?: string;
  /** The path of the cassette, from the file. @defaultValue none: the model's replies stand in the turns */
  readonly cassette?: string;
  readonly turns: readonly TurnRecord[];
  readonly calls: readonly StoredCall[];
  /** Tools that the agent has. Another one, as of an MCP server, is made for the test. */
  readonly ownTools: ReadonlyMap<string, ServerTool>;
  readonly redact: Redact;
}

/** A stored talk as the YAML form has it: the participant's words, the device's answers, and what came of them. */
export function toScenario({ name, config, cassette, turns, calls, ownTools, redact }: Recorded): object {
  const ran = (where: "server" | "client") => calls.filter((call) => call.ranOn === where);
  const told = toldResults(turns);
  // A tool that the agent does not have itself is announced as it was.
  const behaviours = (where: "server" | "client") =>
    Object.entries(Object.groupBy(ran(where), ({ name: tool }) => tool)).map(([tool, list = []]) => {
      const announced = ({ timeoutMs }: StoredCall) =>
        ownTools.has(tool) ? {} : { description: `${tool}, as it was recorded.`, timeout_ms: timeoutMs };
      return [tool, list.map((call) => ({ ...toBehaviour(call, told), ...announced(call) }))] as const;
    });
  const mocks = behaviours("server");
  const device = behaviours("client");
  const scenario = {
    name,
    ...(config !== undefined && { config }),
    ...(cassette !== undefined && { cassette }),
    ...(mocks.length > 0 && { mocks: Object.fromEntries(mocks) }),
    ...(device.length > 0 && { device: Object.fromEntries(device) }),
    turns: turns.map((turn) => {
      const own = calls.filter(({ position }) => position === turn.position);
      const { user, ...rest } = toTurn(turn, own, ownTools);
      return { user, ...(cassette === undefined && { model: toScript(turn) }), ...rest };
    }),
  };
  return redactAll(scenario, redact) as object;
}

/** What the model said and used, a reply for each of its calls. Its thinking is in no test. */
function toScript({ blocks }: TurnRecord): object[] {
  return modelCalls(blocks).map((call) => {
    const say = textsOf(call.blocks);
    const use = call.blocks.flatMap(({ blockType, content }) =>
      blockType === "tool_use" ? { [asText(content?.["tool_name"])]: content?.["input"] ?? {} } : [],
    );
    return { ...((say.length > 0 || use.length === 0) && { say: say.join("") }), ...(use.length > 0 && { use }) };
  });
}

/** An answer that came sooner is given at once: that was the network's time, or the worker's own. */
const SHORTEST_WAIT_MS = 50;
/** How long a test waits for a turn by itself, with a good margin. */
const SHORT_TURN_MS = 20_000;

interface ScenarioTurn {
  readonly user: string;
  readonly [field: string]: unknown;
}

function toTurn(turn: TurnRecord, calls: readonly StoredCall[], ownTools: Recorded["ownTools"]): ScenarioTurn {
  const asking = calls.filter(({ permission }) => permission);
  // What a grant of an earlier talk allowed is asked about again.
  const granted = calls.filter(
    ({ name, errorCode }) => ownTools.get(name)?.permission && errorCode !== "permission_denied",
  );
  const answers = [
    ...granted.map(({ name }) => [name, "approve"]),
    ...asking.map((call) => [call.name, toAnswer(call)]),
  ];
  const toolsMs = calls.reduce((sum, { tookMs }) => sum + (tookMs ?? 0), 0);
  const isLong = toolsMs > SHORT_TURN_MS || calls.some(({ errorCode }) => errorCode === "timeout");
  const words = turn.blocks.findLast(({ blockType }) => blockType === "text")?.textContent ?? "";
  const expected = calls.map(({ name, input, errorCode }) => ({
    name,
    args: literal(input),
    ...(errorCode !== null && { error: errorCode }),
  }));
  return {
    user: saidIn(turn.input),
    ...(isLong && { timeout_ms: 120_000 + toolsMs }),
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

/** The results as the model was told them, by the id of the tool use. */
function toldResults(turns: readonly TurnRecord[]): ReadonlyMap<string, string> {
  const results = turns.flatMap(({ blocks }) => blocks.filter(({ blockType }) => blockType === "tool_result"));
  return new Map(results.map((block) => [toolUseId(block) ?? "", contentText(block.content?.["content"])]));
}

function toBehaviour(call: StoredCall, told: ReadonlyMap<string, string>): object {
  const { state, result, tookMs, errorCode, errorMessage, isDoubled } = call;
  if (state === "success") {
    const isLate = tookMs !== null && tookMs >= SHORTEST_WAIT_MS;
    const how = isDoubled ? { twice: true } : isLate ? { late: tookMs } : {};
    return { answer: inOrder(result ?? {}, told.get(call.toolUseId)), ...how };
  }
  if (errorCode === "timeout") return { never: true };
  if (errorCode === "client_disconnected") return { leave: true };
  return { throws: { message: errorMessage ?? "", code: errorCode ?? "execution_error" } };
}

/** The database keeps no order of a map's keys. What the model was told does, unless it was cut. */
function inOrder(result: JsonObject, told = ""): JsonObject {
  try {
    const parsed = JSON.parse(told) as JsonObject;
    return isDeepStrictEqual(parsed, result) ? parsed : result;
  } catch {
    return result;
  }
}

/** A text between slashes would be read as a regular expression, so it is written as one that fits it alone. */
function literal(value: JsonValue): JsonValue {
  if (typeof value === "string") return /^\/.+\/[a-z]*$/su.test(value) ? `/^${escape(value)}$/` : value;
  if (Array.isArray(value)) return value.map(literal);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, literal(each)]));
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
