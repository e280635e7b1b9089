-- A turn that varies an earlier one answers the same message, which is so answered again. Only what a participant has
-- sent itself is answered once.
alter table turns add column is_variation boolean not null default false;
drop index turns_parent_message;
create index turns_parent_message on turns (session_id, parent_message_id) where parent_message_id is not null;
create unique index turns_answered_once on turns (session_id, parent_message_id)
  where parent_message_id is not null and not is_variation;
