-- For which rooms a worker has asked LiveKit for an agent: of many workers that find a room without one, one asks.
create table agent_requests (
  room text primary key,
  -- Until then nobody else asks.
  rests_until timestamptz not null
);

-- Workers look for leases that have run out.
create index sessions_leased on sessions (room) where lease_owner is not null;
