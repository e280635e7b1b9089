-- The LiveKit rooms of a session. With each it starts once and ends once, whichever workers serve it.
create table session_rooms (
  session_id text not null references sessions on delete cascade,
  -- LiveKit's id of the room: a later room of the same name has another one.
  room_sid text not null,
  -- The agent that served it at the start.
  agent text not null,
  -- The last turn before it, and the last one in it: known when it has ended.
  after_position int not null,
  last_position int,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  end_reason text check (end_reason in ('participants_left', 'ended_by_agent', 'room_deleted', 'unknown')),
  primary key (session_id, room_sid)
);
create index session_rooms_open on session_rooms (started_at) where ended_at is null;
create index session_rooms_by_end on session_rooms (ended_at);

-- What the operator's server is to be told, written with what it tells of. It holds no content: that is read from the
-- record when it is sent.
create table webhooks (
  -- The same at each attempt: receivers know by it what they have taken already.
  id text primary key,
  session_id text not null,
  room_sid text not null,
  foreign key (session_id, room_sid) references session_rooms on delete cascade,
  -- dead: given up.
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'dead')),
  attempts int not null default 0,
  -- When the next attempt is due. A worker that begins one moves it on: should it die, another tries again then.
  due_at timestamptz not null default now(),
  -- Why the last attempt failed: a status, or a code.
  last_error text,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create index webhooks_of_room on webhooks (session_id, room_sid);
create index webhooks_due on webhooks (due_at) where state = 'waiting';
