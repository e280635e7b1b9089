import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** Token counts from the API. `inputTokens` includes neither of the cache counts. */
interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** Who spends: a session, the participant whose turn it is, and a worker. */
export interface Spender {
  readonly sessionId: string;
  readonly identity: string;
  /** The host name of the worker's machine. */
  readonly worker: string;
}

export const BUDGET_SCOPES = ["session", "identity", "worker"] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

export interface NewSpending extends Spender, Tokens {
  readonly model: string;
  readonly purpose: string;
  readonly calls: number;
  readonly money: number;
}

/** Days are UTC days by the database's clock, because workers' clocks may differ. */
const TODAY = "(now() at time zone 'utc')::date";

/** Returns the end of an insert into `spending`, which adds the new values to an existing row. */
function addedToSums(sql: Sql) {
  return sql`
    on conflict (scope, key, day, model, purpose) do update set
      calls = spending.calls + excluded.calls,
      input_tokens = spending.input_tokens + excluded.input_tokens,
      output_tokens = spending.output_tokens + excluded.output_tokens,
      cache_read_tokens = spending.cache_read_tokens + excluded.cache_read_tokens,
      cache_write_tokens = spending.cache_write_tokens + excluded.cache_write_tokens,
      money = spending.money + excluded.money
  `;
}

/**
 * Adds to the sums of the session, the identity and the worker. The order is always the same, so that two statements
 * never deadlock. The write is not fenced, because the money was spent even if another worker has since claimed the
 * session.
 */
export async function addSpending(sql: Sql, spending: NewSpending): Promise<void> {
  const { sessionId, identity, worker, model, purpose, calls, money } = spending;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = spending;
  await runQuery(sql`
    insert into spending (
      scope, key, day, model, purpose, calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, money
    )
    select
      scope, key, ${sql.unsafe(TODAY)}, ${model}, ${purpose}, ${calls}, ${inputTokens}, ${outputTokens},
      ${cacheReadTokens}, ${cacheWriteTokens}, ${money.toFixed(9)}::numeric
    from (values ('session', ${sessionId}), ('identity', ${identity}), ('worker', ${worker})) as spender (scope, key)
    ${addedToSums(sql)}
  `);
}

/** The key that today's sum is moved to when a person's data is removed. It differs each day. */
function erasedKey(sql: Sql, { identity }: { readonly identity: string }) {
  return sql`'erased ' || encode(sha256(convert_to(${identity} || ' ' || ${sql.unsafe(TODAY)}, 'UTF8')), 'hex')`;
}

/**
 * Removes an identity's spending records. Today's total is kept without the name. Otherwise, people could reset their
 * daily budget by removing their own data.
 *
 * @returns how many rows were removed
 */
export async function eraseSpending(sql: Sql, { identity }: { readonly identity: string }): Promise<number> {
  const [row] = await runQuery(sql<{ count: number }[]>`
    with gone as (delete from spending where scope = 'identity' and key = ${identity} returning *),
    kept as (
      insert into spending
      select
        'identity', ${erasedKey(sql, { identity })}, day, '', '', sum(calls), sum(input_tokens), sum(output_tokens),
        sum(cache_read_tokens), sum(cache_write_tokens), sum(money)
      from gone where day = ${sql.unsafe(TODAY)} group by day
      ${addedToSums(sql)}
    )
    select count(*)::int as count from gone
  `);
  await runQuery(sql`delete from budget_warnings where scope = 'identity' and key = ${identity}`);
  return row?.count ?? 0;
}

/** The sum of all kinds of tokens, and the money. */
export interface Spent {
  readonly tokens: number;
  readonly money: number;
}

/** Loads what the session has spent in total, and what its participant and its worker have spent today. */
export async function loadSpent(
  sql: Sql,
  { sessionId, identity, worker }: Spender,
): Promise<Readonly<Record<BudgetScope, Spent>>> {
  const rows = await runQuery(sql<(Spent & { readonly scope: BudgetScope })[]>`
    select
      scope, money::float8 as money,
      (input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::float8 as tokens
    from (
      select scope, sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(money) as money,
        sum(cache_read_tokens) as cache_read_tokens, sum(cache_write_tokens) as cache_write_tokens
      from spending
      where (scope = 'session' and key = ${sessionId})
        or (scope = 'identity' and key in (${identity}, ${erasedKey(sql, { identity })}) and day = ${sql.unsafe(TODAY)})
        or (scope = 'worker' and key = ${worker} and day = ${sql.unsafe(TODAY)})
      group by scope
    ) as sums
  `);
  const of = (scope: BudgetScope): Spent => {
    const { tokens = 0, money = 0 } = rows.find((row) => row.scope === scope) ?? {};
    return { tokens, money };
  };
  return { session: of("session"), identity: of("identity"), worker: of("worker") };
}

export interface ModelSpending extends Tokens {
  readonly model: string;
  readonly purpose: string;
  readonly calls: number;
  readonly money: number;
}

/** Loads what a session has spent in total, by model and purpose. */
export async function loadSessionSpending(
  sql: Sql,
  { sessionId }: { readonly sessionId: string },
): Promise<readonly ModelSpending[]> {
  return await runQuery(sql<ModelSpending[]>`
    select
      model, purpose, sum(calls)::float8 as calls, sum(input_tokens)::float8 as "inputTokens",
      sum(output_tokens)::float8 as "outputTokens", sum(cache_read_tokens)::float8 as "cacheReadTokens",
      sum(cache_write_tokens)::float8 as "cacheWriteTokens", sum(money)::float8 as money
    from spending where scope = 'session' and key = ${sessionId}
    group by model, purpose
    order by model, purpose
  `);
}

/**
 * Whether to warn about this budget now. `true` only once per session for `session`, and once a day for other scopes.
 */
export async function takeWarning(sql: Sql, spender: Spender, scope: BudgetScope): Promise<boolean> {
  const rows = await runQuery(sql`
    insert into budget_warnings (scope, key, day) values (${scope}, ${warnedKey(spender, scope)}, ${warnedDay(sql, scope)})
    on conflict do nothing
    returning key
  `);
  return rows.length > 0;
}

/** Undoes `takeWarning`, so that its next call returns `true` again. */
export async function returnWarning(sql: Sql, spender: Spender, scope: BudgetScope): Promise<void> {
  await runQuery(sql`
    delete from budget_warnings
    where scope = ${scope} and key = ${warnedKey(spender, scope)} and day = ${warnedDay(sql, scope)}
  `);
}

function warnedKey({ sessionId, identity, worker }: Spender, scope: BudgetScope): string {
  return { session: sessionId, identity, worker }[scope];
}

function warnedDay(sql: Sql, scope: BudgetScope) {
  return sql.unsafe(scope === "session" ? "date '1970-01-01'" : TODAY);
}
