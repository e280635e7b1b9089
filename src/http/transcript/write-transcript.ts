import type { SessionRecord } from "../../store/sessions/sessions.ts";
import { loadTranscriptPage } from "../../store/turns/load-transcript.ts";
import type { Sql } from "../../store/database/pool.ts";
import { markdownHead, markdownTurn } from "./to-markdown.ts";
import { toSpokenTurn, type SpokenTurn } from "./spoken-turn.ts";

/** How many turns are held at once, however long the talk is. */
const PAGE = 10;

export type TranscriptFormat = "json" | "markdown";

/** A session's whole record as text, piece by piece. @throws {AppError} `unavailable` */
export async function* writeTranscript(
  format: TranscriptFormat,
  { sql, session }: { readonly sql: Sql; readonly session: SessionRecord },
): AsyncGenerator<string> {
  yield* format === "json"
    ? toJson(session, spokenTurns(sql, session.id))
    : toMarkdown(session, spokenTurns(sql, session.id));
}

async function* spokenTurns(sql: Sql, sessionId: string): AsyncGenerator<SpokenTurn> {
  for (let after = 0; ;) {
    const page = await loadTranscriptPage(sql, { sessionId, after, limit: PAGE });
    for (const turn of page) yield toSpokenTurn(turn);
    const last = page.at(-1);
    if (page.length < PAGE || !last) return;
    after = last.position;
  }
}

/** One JSON object, with a line for each turn. */
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
