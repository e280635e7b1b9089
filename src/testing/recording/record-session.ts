import { writeFile } from "node:fs/promises";
import { basename, dirname, relative, resolve } from "node:path";
import { stringify } from "yaml";
import { AppError } from "../../errors/app-error.ts";
import { conversationIdOfRoom } from "../../protocol/conversation-id.ts";
import { withTestIdentity, unreplayableReason } from "../../scenario/playable.ts";
import { createRedact } from "../../scenario/redact.ts";
import { toScenario } from "../../scenario/to-scenario.ts";
import { withoutPreparing } from "../../store/database/database-endpoints.ts";
import { connect, type Sql } from "../../store/database/pool.ts";
import { loadSession } from "../../store/sessions/sessions.ts";
import { loadBlockTimes, loadRecordedCalls } from "../../store/turns/load-recorded-calls.ts";
import { loadTurns } from "../../store/turns/load-turns.ts";
import { writeCassette } from "../cassette/cassette-file.ts";
import { loadAgent } from "../load-agent.ts";
import { toCalls } from "./to-calls.ts";

interface RecordOptions {
  readonly databaseUrl: string;
  readonly room: string;
  /** The path of the agent's parley.config.ts. */
  readonly config: string;
  /** The path of the test. The cassette is written next to it. */
  readonly file: string;
}

export interface RecordedTest {
  readonly cassette: string;
  readonly turns: number;
  /** Why the test ends before the recorded session does. `undefined` if the test is complete. */
  readonly endsBecause: string | undefined;
}

/**
 * Writes a test and its cassette from a stored session. Both end before the first turn that cannot be replayed.
 *
 * @throws {AppError} `conversation_not_found`, or `invalid_state` if its first turn cannot be replayed
 */
export async function recordSession({ databaseUrl, ...options }: RecordOptions): Promise<RecordedTest> {
  const sql = connect(withoutPreparing(databaseUrl), { maxConnections: 1, applicationName: "parley record" });
  try {
    return await record(sql, options);
  } finally {
    await sql.end({ timeout: 2 });
  }
}

async function record(sql: Sql, { room, config, file }: Omit<RecordOptions, "databaseUrl">): Promise<RecordedTest> {
  const session = await loadSession(sql, { conversationId: conversationIdOfRoom(room) });
  if (!session) throw new AppError("conversation_not_found", `The room ${room} has no stored session`);
  const { id: sessionId } = session;
  const [all, calls, times, agent] = await Promise.all([
    loadTurns(sql, { sessionId }),
    loadRecordedCalls(sql, { sessionId }),
    loadBlockTimes(sql, { sessionId }),
    loadAgent({ config }),
  ]);
  const end = all.findIndex((turn) => unreplayableReason(turn) !== undefined);
  const turns = (end < 0 ? all : all.slice(0, end)).map(withTestIdentity);
  const why = all[end] && `turn ${end + 1} is left out: ${unreplayableReason(all[end])}`;
  if (turns.length === 0) throw new AppError("invalid_state", why ?? `The session of the room ${room} has no turns`);
  const redact = createRedact();
  const cassette = `${file.replace(/\.talk\.ya?ml$/u, "")}.cassette.json`;
  const scenario = toScenario({
    name: `the talk of ${room}`,
    config: relative(dirname(resolve(file)), resolve(config)),
    cassette: basename(cassette),
    turns,
    calls,
    times,
    ownTools: agent.tools,
    redact,
  });
  await writeCassette(
    cassette,
    turns.flatMap((turn, index) => {
      const blockTimes = times.get(turn.position) ?? [];
      return toCalls({ turn, before: turns.slice(0, index), times: blockTimes }, redact);
    }),
  );
  await writeFile(file, stringify(scenario));
  return { cassette, turns: turns.length, endsBecause: why };
}
