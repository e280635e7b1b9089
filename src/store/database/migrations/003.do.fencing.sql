-- One more with each claim of the session. What a worker writes carries the number of its own claim, and changes nothing
-- once there has been another.
alter table sessions add column epoch bigint not null default 0;

-- What participants noted on a turn's messages. Apart from the turn, which nobody should be able to make large.
create table commentaries (
  id bigint generated always as identity primary key,
  turn_id text not null references turns on delete cascade,
  message_id text not null,
  -- Who wrote it; null where that was not kept.
  participant_identity text,
  content text not null,
  commentary_type text,
  created_at timestamptz not null default now()
);
create index commentaries_of_turn on commentaries (turn_id);
insert into commentaries (turn_id, message_id, content, commentary_type)
select turns.id, note ->> 'messageId', note ->> 'content', note ->> 'commentaryType'
from turns, jsonb_array_elements(commentary) as note;
alter table turns drop column commentary;
