-- The agent that a session was handed to, and the LiveKit room (its sid) in which that was: the next worker of that room
-- goes on with it, while another room of the name begins with the agent that is named for it.
alter table sessions add column agent text;
alter table sessions add column agent_room text;
