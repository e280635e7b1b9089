-- One conversation, across reconnects, rooms and workers.
create table sessions (
  id text primary key,
  conversation_id text not null unique,
  room text,
  -- Who opened it.
  participant_identity text,
  lease_owner text,
  lease_expires_at timestamptz,
  -- Highest worker stanza number that may have been used, stored positive.
  worker_stanza_reserved bigint not null default 0,
  -- Last stanza number of each participant, by identity.
  client_stanzas jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table turns (
  id text primary key,
  session_id text not null references sessions on delete cascade,
  position int not null,
  participant_identity text not null,
  parent_message_id text,
  message_id text not null,
  input jsonb not null default '[]',
  state text not null default 'running' check (state in ('running', 'completed', 'interrupted', 'failed', 'cancelled')),
  stop_reason text,
  error_code text,
  error_message text,
  usage jsonb,
  model text,
  timings jsonb,
  -- The worker's stanza number at the turn's end, positive: whoever has seen a later one has seen the answer.
  last_stanza bigint,
  -- The turn that was asked for instead (regenerate, edit): this one is kept, but no longer part of the talk.
  superseded_by text references turns on delete set null,
  -- What clients noted on the turn's messages: [{messageId, content, commentaryType}].
  commentary jsonb not null default '[]',
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  unique (session_id, position)
);
create unique index turns_parent_message on turns (session_id, parent_message_id) where parent_message_id is not null;
create index turns_running on turns (session_id) where state = 'running';

-- As spec/003. No check on block_type: types that a newer API invents are kept under their own name.
create table turn_blocks (
  turn_id text not null references turns on delete cascade,
  sequence int not null check (sequence >= 0),
  block_type text not null,
  text_content text,
  content jsonb,
  created_at timestamptz not null default now(),
  primary key (turn_id, sequence)
);

create function refuse_block_update() returns trigger language plpgsql as $$
begin
  raise exception 'a stored block is never edited' using errcode = 'restrict_violation';
end
$$;
create trigger turn_blocks_are_final before update on turn_blocks for each row execute function refuse_block_update();

create table tool_calls (
  -- The ToolUseRequest's id.
  id text primary key,
  turn_id text not null references turns on delete cascade,
  tool_use_id text not null,
  name text not null,
  execution_asked text not null,
  execution_resolved text,
  -- The addressee: the participant that must answer.
  participant_identity text,
  state text not null default 'pending' check (state in ('pending', 'running', 'success', 'error', 'cancelled')),
  timeout_ms int not null,
  deadline_at timestamptz,
  idempotency_key text not null,
  input jsonb not null,
  result jsonb,
  error_code text,
  error_message text,
  logs jsonb not null default '[]',
  extra_answers jsonb not null default '[]',
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  unique (turn_id, tool_use_id)
);
create index tool_calls_open on tool_calls (turn_id) where state in ('pending', 'running');
