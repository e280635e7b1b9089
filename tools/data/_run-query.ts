import { exactJson } from "./_exact-json.ts";
import type { Session } from "./_open-session.ts";
import type { QuerySettings } from "./_query-settings.ts";

export interface Query {
  readonly sql: string;
  readonly params: readonly (string | number | boolean | null)[];
}

export interface QueryResult {
  readonly columns: readonly string[];
  /** Each row contains its values in the order of `columns`. */
  readonly rows: readonly (readonly unknown[])[];
  readonly rowCount: number;
  readonly truncated: boolean;
}

type Limits = Pick<QuerySettings, "maxRows" | "maxBytes"> & { readonly signal: AbortSignal };

/**
 * Runs one read query in two steps. Each step uses the extended protocol, which accepts only one statement. The first
 * step parses the query on its own, so its brackets and quotes must be balanced. The second step runs it as a subquery,
 * where PostgreSQL accepts only SELECT, VALUES and TABLE. The server itself limits rows and bytes.
 */
export async function runQuery(session: Session, query: Query, limits: Limits): Promise<QueryResult> {
  const { signal, maxRows } = limits;
  const sql = withoutEnd(query.sql);
  const params = query.params.map((param) => (param === null ? null : String(param)));
  const parsed = session.query(sql, params);
  const statement = await cancellable(parsed, parsed.describe(), signal);
  const columns: readonly { readonly name: string }[] | undefined = statement.columns;
  if (columns === undefined || columns.length === 0) throw new Error("Only queries that return columns can be run");
  if (statement.types.length !== params.length) {
    throw new Error(`The query has ${statement.types.length} parameters, but ${params.length} values were given`);
  }
  const capped = session.query<Line>(cap(sql, columns.length, limits), params);
  const lines = await cancellable(capped, capped, signal);
  const rows = lines.slice(0, maxRows).flatMap(({ line }) => (line === null ? [] : [Object.values(exactJson(line))]));
  return {
    columns: columns.map(({ name }) => name),
    rows,
    rowCount: rows.length,
    truncated: rows.length < lines.length,
  };
}

type Line = { readonly line: string | null };

function withoutEnd(sql: string): string {
  let text = sql.trimEnd();
  while (text.endsWith(";")) text = text.slice(0, -1).trimEnd();
  return text;
}

/** Makes the server send at most `maxRows` + 1 rows and `maxBytes` in total. Rows beyond `maxBytes` arrive as null. */
function cap(sql: string, columnCount: number, { maxRows, maxBytes }: Limits): string {
  const names = Array.from({ length: columnCount }, (_, index) => `c${index}`).join(", ");
  return `select case when total <= ${maxBytes} then line end as line from (
select line, sum(octet_length(line)) over (rows unbounded preceding) as total from (
select to_json(query)::text as line from (
${sql}
) as query (${names}) offset 0) as lines) as counted limit ${maxRows + 1}`;
}

/** On abort, makes the server cancel `query`, so `answer` rejects. */
async function cancellable<Answer>(
  query: { cancel(): void },
  answer: PromiseLike<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  const onAbort = () => {
    // `cancel` is typed as void, but returns a promise. If the cancel fails, the statement_timeout still ends the
    // query.
    Promise.resolve<unknown>(query.cancel()).catch(() => {});
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await answer;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
