-- What stands for turns that the model is no longer shown. A row is never changed: a later one takes its place in what
-- is shown, and each turn's context names the one that was shown with it.
create table summaries (
  id text primary key,
  session_id text not null references sessions on delete cascade,
  -- The turns that left with this row; what it says is of all turns up to the last.
  from_position int not null,
  to_position int not null,
  -- The last of them. It takes the row with it when it is deleted.
  to_turn text not null references turns on delete cascade,
  -- In a model's words, of the turns up to text_to. Null where turns left without.
  text text,
  text_to int not null default 0,
  model text,
  usage jsonb,
  -- From the record, not from a model: outcomes that are still promised, and who took part.
  promises jsonb not null default '[]',
  people jsonb not null default '[]',
  created_at timestamptz not null default now()
);
create index summaries_of_session on summaries (session_id);
create index summaries_of_turn on summaries (to_turn);
