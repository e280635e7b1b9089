-- Why the model ended after this block, where that is known: a turn whose worker died before the turn's end is over then.
alter table turn_blocks add column stop_reason text;
