-- What the tool set_language has chosen, by identity: a worker that takes the session over goes on with it.
alter table sessions add column languages jsonb not null default '{}';
