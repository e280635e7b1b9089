-- The first turn of which the text tells, itself or by the notes that it goes on from: it goes with that turn.
alter table summaries add column text_from int not null default 1;
