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
  {
    sql,
    session,
    showsOriginals,
  }: { readonly sql: Sql; readonly session: SessionRecord; readonly showsOriginals: boolean },
): AsyncGenerator<string> {
  const turns = spokenTurns(sql, { sessionId: session.id, showsOriginals });
  yield* format === "json" ? toJson(session, turns) : toMarkdown(session, turns);
}

interface Wanted {
  readonly sessionId: string;
  /** Only turns after this position. @defaultValue 0 */
  readonly after?: number;
  /** Only turns up to this position. @defaultValue all */
  readonly last?: number;
  /** Whether to show what the model wrote where the hook `onAnswer` changed it. @defaultValue true */
  readonly showsOriginals?: boolean;
}

/**
 * Yields a session's turns in the order in which they began. Reads them page by page.
 *
 * @throws {AppError} `unavailable`
 */
export async function* spokenTurns(
  sql: Sql,
  { sessionId, after = 0, last = Number.POSITIVE_INFINITY, showsOriginals = true }: Wanted,
): AsyncGenerator<SpokenTurn> {
  for (let read = after; read < last;) {
    const page = await loadTranscriptPage(sql, { sessionId, after: read, limit: PAGE });
    const turns = page.filter(({ position }) => position <= last).map(toSpokenTurn);
    yield* showsOriginals ? turns : turns.map(withoutOriginals);
    const end = page.at(-1);
    if (page.length < PAGE || !end) return;
    read = end.position;
  }
}

function withoutOriginals({ answer, ...turn }: SpokenTurn): SpokenTurn {
  const shown = answer.map((part) => (part.type === "text" ? { type: part.type, text: part.text } : part));
  return { ...turn, answer: shown };
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
