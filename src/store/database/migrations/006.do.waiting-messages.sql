-- What participants said that no turn has begun with yet. A row goes when its turn is stored.
create table waiting_messages (
  session_id text not null references sessions on delete cascade,
  -- The user message's.
  id text not null,
  position bigint generated always as identity,
  participant_identity text not null,
  content text not null,
  created_at timestamptz not null default now(),
  primary key (session_id, id)
);
