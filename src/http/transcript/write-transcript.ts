import type { SpokenTurn } from "../../conversation/spoken-turn.ts";
import type { SessionRecord } from "../../store/sessions/sessions.ts";
import { loadTranscriptPage } from "../../store/turns/load-transcript.ts";
import type { Sql } from "../../store/database/pool.ts";
import { markdownHead, markdownTurn } from "./to-markdown.ts";
import { toSpokenTurn } from "./to-spoken-turn.ts";

/** How many turns are in memory at once. */
const PAGE = 10;

export type TranscriptFormat = "json" | "markdown";

/** Yields a session's whole record as text. @throws {AppError} `unavailable` */
export async function* writeTranscript(
  format: TranscriptFormat,
  { sql, session }: { readonly sql: Sql; readonly session: SessionRecord },
): AsyncGenerator<string> {
  yield* format === "json"
    ? toJson(session, spokenTurns(sql, { sessionId: session.id }))
    : toMarkdown(session, spokenTurns(sql, { sessionId: session.id }));
}

interface Wanted {
  readonly sessionId: string;
  /** Only turns after this position. @defaultValue 0 */
  readonly after?: number;
  /** Only turns up to this position. @defaultValue all */
  readonly last?: number;
}

/**
 * Yields a session's turns in the order in which they began. Reads them page by page.
 *
 * @throws {AppError} `unavailable`
 */
export async function* spokenTurns(
  sql: Sql,
  { sessionId, after = 0, last = Number.POSITIVE_INFINITY }: Wanted,
): AsyncGenerator<SpokenTurn> {
  for (let read = after; read < last;) {
    const page = await loadTranscriptPage(sql, { sessionId, after: read, limit: PAGE });
    for (const turn of page) if (turn.position <= last) yield toSpokenTurn(turn);
    const end = page.at(-1);
    if (page.length < PAGE || !end) return;
    read = end.position;
  }
}

/** Yields one JSON object with a line for each turn. */
async function* toJson(session: SessionRecord, turns: AsyncIterable<SpokenTurn>): AsyncGenerator<string> {
  const { id, conversationId, room, createdAt } = session;
  yield `{"session":${JSON.stringify({ id, conversationId, room, createdAt })},"turns":[`;
  let separator = "\n";
  for await (const turn of turns) {
    yield separator + JSON.stringify(turn);
    separator = ",\n";
  }
  yield "\n]}\n";
}

async function* toMarkdown(session: SessionRecord, turns: AsyncIterable<SpokenTurn>): AsyncGenerator<string> {
  yield markdownHead(session);
  for await (const turn of turns) yield markdownTurn(turn);
}
