-- What of the talk the model was shown in the turn's last call: {from, shortened, measured}. The next turn goes on from
-- it, and so does the next worker: it loads no turn that was not shown.
alter table turns add column context jsonb;

-- The history's turns, newest first, and turns by their messages: without them, these would cost as much as the talk.
create index turns_history on turns (session_id, position) where superseded_by is null;
create index turns_message on turns (session_id, message_id);
create index turns_last_stanza on turns (session_id, last_stanza) where last_stanza is not null;

-- A call's session, so that a session's few calls that are not over can be found among all that ever were. Not
-- `session_id`: a worker of an older version means that of the call's turn.
alter table tool_calls add column in_session text references sessions on delete cascade;
update tool_calls set in_session = turns.session_id from turns where turns.id = turn_id;
alter table tool_calls alter column in_session set not null;
-- A worker of an older version does not say it.
create function set_session_of_call() returns trigger language plpgsql as $$
begin
  new.in_session := (select session_id from turns where id = new.turn_id);
  return new;
end
$$;
create trigger tool_calls_have_a_session before insert on tool_calls
  for each row when (new.in_session is null) execute function set_session_of_call();

-- The model knows how a background call ended: it was told later, or had no promise of it.
alter table tool_calls add column is_told boolean not null default false;
create index turn_blocks_outcomes on turn_blocks ((content -> 'input' ->> 'tool_use_id'))
  where block_type = 'tool_use' and content ->> 'tool_name' = 'call_outcome';
update tool_calls set is_told = true
from turn_blocks
where is_background and block_type = 'tool_use' and content ->> 'tool_name' = 'call_outcome'
  and content -> 'input' ->> 'tool_use_id' = tool_use_id;
create index tool_calls_not_over on tool_calls (in_session)
  where state in ('pending', 'running') or (is_background and not is_told);
drop index tool_calls_open;
