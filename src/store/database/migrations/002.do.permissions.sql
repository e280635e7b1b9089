-- What a tool wanted to do and what a person said to it (spec/004). The database decides whose answer was first.
create table permissions (
  -- The PermissionRequest's id.
  id text primary key,
  session_id text not null references sessions on delete cascade,
  turn_id text not null references turns on delete cascade,
  call_id text not null references tool_calls on delete cascade,
  message_id text not null,
  -- Who is asked, and whose answer alone counts: the participant whose turn it is.
  participant_identity text not null,
  tool_name text not null,
  type text not null,
  pattern jsonb not null,
  title text not null,
  metadata jsonb not null default '{}',
  -- Of the tool and the arguments that were shown: the approval is for these alone.
  input_hash text not null,
  -- What arguments that are put in their place must match; null where the tool takes none.
  edited_input_schema jsonb,
  state text not null default 'asked' check (state in ('asked', 'approved', 'rejected', 'expired', 'withdrawn')),
  -- An approval that was stored as a grant as well.
  is_always boolean not null default false,
  -- What the person said beside a no, for the model.
  message text,
  -- Arguments that were put in the place of those shown, where the tool allows it.
  edited_input jsonb,
  replied_by text,
  replied_via text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  replied_at timestamptz,
  unique (call_id)
);
create index permissions_open on permissions (session_id) where state = 'asked';

-- What a person has allowed for good.
create table permission_grants (
  id text primary key,
  participant_identity text not null,
  tool_name text not null,
  pattern text not null,
  created_at timestamptz not null default now(),
  unique (participant_identity, tool_name, pattern)
);

-- One more with each change, so that whoever is shown a call knows what is newer.
alter table tool_calls add column revision int not null default 0;
-- 0 to 1, as the client that runs it said last.
alter table tool_calls add column progress real;
-- What of the call may be shown: full, name or off.
alter table tool_calls add column detail text not null default 'full';
-- The turn was answered with a receipt; the outcome comes into the talk by itself.
alter table tool_calls add column is_background boolean not null default false;

-- A repeated message is known by its id; clients' counters begin again with each join.
alter table sessions drop column client_stanzas;

-- Of an answer that was spoken and cut off: what the participant has heard of it.
alter table turns add column heard text;
-- Sentences of the answer that are in none of its blocks: the worker said them itself.
alter table turns add column asides int not null default 0;
