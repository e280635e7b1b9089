-- What a participant calls a conversation. Other participants do not see it.
create table session_titles (
  session_id text not null references sessions on delete cascade,
  participant_identity text not null,
  title text not null,
  primary key (session_id, participant_identity)
);
create index session_titles_of_participants on session_titles (participant_identity);
