-- The state that an author's tools and hooks keep for a session. A session without a row has its initial state.
create table session_states (
  session_id text primary key references sessions on delete cascade,
  -- The number of the session's last change.
  version int not null,
  state jsonb not null
);

create table state_changes (
  session_id text not null references sessions on delete cascade,
  version int not null,
  -- The turn whose call or hook made the change; null for a change of the hook `onSessionStart`.
  turn_id text references turns on delete cascade,
  -- Null for a change of a hook.
  call_id text references tool_calls on delete cascade,
  -- By field: {before, after}. `before` is absent for a field that was added, `after` for one that was removed.
  fields jsonb not null,
  -- Whether the turn was replaced, and the fields were set to `before` again.
  undone boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (session_id, version)
);
create index state_changes_of_turns on state_changes (turn_id);
create index state_changes_of_calls on state_changes (call_id);
