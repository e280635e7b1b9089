-- What a person has asked to be remembered, in all rooms.
create table memories (
  id text primary key,
  participant_identity text not null,
  content text not null,
  created_at timestamptz not null default now()
);
create unique index memories_once on memories (participant_identity, content);

-- For what is removed by its age, or because somebody asks for it.
create index turns_by_age on turns (created_at);
create index turns_of_participant on turns (participant_identity);
