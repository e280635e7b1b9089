-- The bytes of pictures and documents that the model is shown. Blocks name them by their ids, and never have them.
create table media (
  id text primary key,
  session_id text not null references sessions on delete cascade,
  -- The call whose result they are part of; null for what came with a message.
  call_id text references tool_calls on delete cascade,
  -- Who gave them; null for what the worker's own tools made.
  participant_identity text,
  media_type text not null,
  bytes bytea not null,
  created_at timestamptz not null default now()
);
create index media_of_calls on media (call_id);
create index media_of_sessions on media (session_id);
create index media_of_participants on media (participant_identity) where participant_identity is not null;
-- They are compressed already.
alter table media alter column bytes set storage external;

-- What the model is shown in the place of `result`, and what clients are given to display.
alter table tool_calls add column shown jsonb, add column display jsonb;

-- What came with a message: parts of the turn's input.
alter table waiting_messages add column attachments jsonb not null default '[]';
