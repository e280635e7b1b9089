-- The metadata of the dispatch by which `agent` was chosen in `agent_room`. Both are stored when the first turn begins there, so
-- that a dispatch that came too late does not change the agent when the next worker takes the session.
alter table sessions add column agent_dispatch text;
