import { stringify } from "yaml";
import type { TurnRecord } from "../conversation/turn-record.ts";
import type { Sql } from "../store/database/pool.ts";
import { endOfBudget } from "../store/turns/end-of-budget.ts";
import { loadBlockTimes, loadRecordedCalls, type StoredCall } from "../store/turns/load-recorded-calls.ts";
import { loadTurns } from "../store/turns/load-turns.ts";
import type { ServerTool } from "../tool/server-tool.ts";
import { withTestIdentity, unreplayableReason } from "./playable.ts";
import { createRedact } from "./redact.ts";
import { toScenario } from "./to-scenario.ts";

/** The maximum number of turns in a test. A longer test would be hard to read. */
const MAX_TURNS = 50;
/**
 * The maximum stored size of a test's turns. All turns are in memory at once, and converting them to YAML blocks the
 * event loop for about 100 ms.
 */
const MAX_BYTES = 1_048_576;

const TOO_LARGE = `with it the record is over ${MAX_BYTES} bytes`;

interface RecordedSession {
  readonly sessionId: string;
  readonly room: string;
  readonly tools: ReadonlyMap<string, ServerTool>;
}

/**
 * Writes a test from the first turns of a stored session, including the model's replies. The test ends before the first
 * turn that cannot be replayed, that contains a call whose details are not shown, or that makes the test too large.
 *
 * @returns the YAML, or the reason why not even the first turn can be replayed
 */
export async function writeScenario(
  sql: Sql,
  { sessionId, room, tools }: RecordedSession,
): Promise<{ readonly yaml: string } | { readonly why: string }> {
  const end = await endOfBudget(sql, { sessionId, before: MAX_TURNS + 1, maxBytes: MAX_BYTES });
  const [all, calls, times] = await Promise.all([
    loadTurns(sql, { sessionId, before: end }),
    loadRecordedCalls(sql, { sessionId, before: end }),
    loadBlockTimes(sql, { sessionId, before: end }),
  ]);
  const first = all.findIndex((turn) => whyNotScripted(turn, calls) !== undefined);
  const turns = (first < 0 ? all : all.slice(0, first)).map(withTestIdentity);
  const why = all[first] ? whyNotScripted(all[first], calls) : end <= MAX_TURNS ? TOO_LARGE : undefined;
  const left = why && `turn ${turns.length + 1} is left out: ${why}`;
  const hasMessage = turns.some(({ parentMessageId }) => parentMessageId !== null);
  if (!hasMessage) return { why: left ?? "nothing has been said yet" };
  const redact = createRedact();
  const scenario = toScenario({ name: `the talk of ${room}`, turns, calls, times, ownTools: tools, redact });
  const notes = [
    "# Save it as tests/<name>.talk.yaml beside parley.config.ts, then: npm run parley -- test",
    "# What looks like a key, an e-mail address or a number of a person is removed. Names are not: read it.",
    ...(left === undefined ? [] : [`# From here on it differs from the talk: ${left}.`]),
  ];
  return { yaml: `${notes.join("\n")}\n${stringify(scenario)}` };
}

function whyNotScripted(turn: TurnRecord, calls: readonly StoredCall[]): string | undefined {
  if (turn.blocks.some(({ blockType }) => blockType === "server_tool_use")) return "Anthropic ran a tool in it";
  const own = calls.filter(({ position }) => position === turn.position);
  if (own.some(({ detail }) => detail !== "full")) return "a tool in it shows no details";
  return unreplayableReason(turn);
}
