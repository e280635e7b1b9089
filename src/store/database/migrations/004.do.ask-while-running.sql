-- A call that runs may ask as well, and more than once; to start, it is asked about once.
alter table permissions add column while_running boolean not null default false;
alter table permissions drop constraint permissions_call_id_key;
create unique index permissions_to_start on permissions (call_id) where not while_running;
create index permissions_of_call on permissions (call_id);

-- One tool may ask for several kinds of things. Null: granted before there were several.
alter table permission_grants add column type text;
alter table permission_grants drop constraint permission_grants_participant_identity_tool_name_pattern_key;
create unique index permission_grants_once on permission_grants (participant_identity, tool_name, coalesce(type, ''), pattern);
