-- Whether an agent has claimed the session since one last began in this room, which it does once somebody is there. A
-- session that lost its worker gets one agent even if LiveKit lists nobody in its room. If nobody is there, no second
-- one comes: agents that come and go would keep the empty room open for ever.
alter table session_rooms add column agent_came boolean not null default false;
