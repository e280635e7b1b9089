-- Of a running answer that is spoken: how many of its sentences have been sent, and how many of its own need no more
-- sound, so that the next worker says the rest. Null: its sentences are sent as they are written.
alter table turns add column sent_sentences int, add column heard_sentences int;
