-- What workers tell each other of all rooms, in one row; before, in rows of agent_requests that named no room.
create table all_rooms (
  is_row boolean primary key default true check (is_row),
  -- Until then no other worker looks at them.
  looks_rest_until timestamptz not null default '-infinity',
  -- Until then some count as waiting for a place.
  waiting_until timestamptz not null default '-infinity'
);
delete from agent_requests where room in ('', E'\n');
