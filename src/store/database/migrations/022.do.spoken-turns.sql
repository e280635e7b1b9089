-- When the speech of the turn's answer ended, in full or cut off: a turn ends when its answer is stored, and its speech
-- ends later. Null until then, and for an answer that is not spoken.
--
-- spoken_state is how the turn ended together with its speech: a completed answer may be cut off while it is spoken.
alter table turns add column spoken_at timestamptz, add column spoken_state text;
update turns set spoken_at = finished_at, spoken_state = state where sent_sentences is not null and state <> 'running';

-- What was heard of the answer is stored after the turn's end.
create trigger turns_keep_heard_words before update of heard on turns for each row
when (old.state <> 'running' and new.heard is distinct from old.heard) execute function keep_turn_words();
