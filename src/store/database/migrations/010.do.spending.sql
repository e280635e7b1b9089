-- What model calls have cost, added up: of each session, and of each identity and each worker. It holds no content, and
-- stays when a session is deleted.
create table spending (
  scope text not null check (scope in ('session', 'identity', 'worker')),
  -- The session's id, the identity, or the worker's host.
  key text not null,
  -- In UTC, by the database's clock.
  day date not null,
  model text not null,
  purpose text not null,
  calls int not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  -- In the currency of the config's prices; 0 for a model without a price.
  money numeric not null,
  primary key (scope, key, day, model, purpose)
);

-- The warnings that were said. A budget of a session is warned of once, so its day is always the same.
create table budget_warnings (
  scope text not null,
  key text not null,
  day date not null,
  primary key (scope, key, day)
);
