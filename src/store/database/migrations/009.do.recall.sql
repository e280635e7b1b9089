-- All texts of a JSON value, in one.
create function json_words(value jsonb) returns text language sql immutable as $$
  select string_agg(part #>> '{}', ' ') from jsonb_path_query(value, 'strict $.**') as part
  where jsonb_typeof(part) in ('string', 'number')
$$;

-- What was said and done in a turn, piece by piece. Of an answer that was cut off, only what was heard of it. What
-- `recall` gave back is no piece: it would be found again and again.
create function turn_pieces(wanted text, heard_of_it text)
returns table (sequence int, speaker text, tool_use_id text, tool_name text, piece text) language sql stable as $$
  select -1, 'participant', null, null, string_agg(part ->> 'text', ' ' order by place)
  from turns, jsonb_array_elements(input) with ordinality as parts (part, place)
  where turns.id = wanted and parent_message_id is not null
  having count(*) > 0
  union all
  select 0, 'agent', null, null, heard_of_it where heard_of_it is not null
  union all
  select turn_blocks.sequence, 'agent', null, null, text_content
  from turn_blocks
  where turn_id = wanted and block_type = 'text' and heard_of_it is null
  union all
  select turn_blocks.sequence, 'tool', content ->> 'tool_use_id', content ->> 'tool_name', json_words(content -> 'input')
  from turn_blocks
  where turn_id = wanted and block_type in ('tool_use', 'server_tool_use') and content ->> 'tool_name' <> 'recall'
  union all
  select
    answer.sequence, 'tool', answer.content ->> 'tool_use_id', use.content ->> 'tool_name',
    -- The model was told it as JSON, where a line's end is written as a backslash and an n.
    coalesce(json_words(result), regexp_replace(answer.content ->> 'content', '\\[nrt]', ' ', 'g'))
  from turn_blocks as answer
  join turn_blocks as use on use.turn_id = answer.turn_id and use.block_type = 'tool_use'
    and use.content ->> 'tool_use_id' = answer.content ->> 'tool_use_id' and use.content ->> 'tool_name' <> 'recall'
  left join tool_calls on tool_calls.turn_id = answer.turn_id
    and tool_calls.tool_use_id = answer.content ->> 'tool_use_id'
  where answer.turn_id = wanted and answer.block_type = 'tool_result'
$$;

-- The words of an ended turn: of the participant (A), the agent (B) and tools (C), in no language's grammar. The
-- session's id is one of the words: with it in the query, the index gives rows of that session alone. A tsvector holds
-- 1 MB, so each speaker's text is cut, and once more if its words are longer than their text.
create function turn_words(wanted text, heard_of_it text, most int default 60000) returns tsvector language plpgsql stable as $$
begin
  return (
    select
      setweight(to_tsvector('simple', left(coalesce(string_agg(piece, ' ') filter (where speaker = 'participant'), ''), most)), 'A')
      || setweight(to_tsvector('simple', left(coalesce(string_agg(piece, ' ') filter (where speaker = 'agent'), ''), most)), 'B')
      || setweight(to_tsvector('simple', left(coalesce(string_agg(piece, ' ') filter (where speaker = 'tool'), ''), most)), 'C')
      || array_to_tsvector(array['session=' || (select session_id from turns where turns.id = wanted)])
    from turn_pieces(wanted, heard_of_it)
  );
exception when program_limit_exceeded then
  return turn_words(wanted, heard_of_it, 10000);
end
$$;

alter table turns add column words tsvector;
update turns set words = turn_words(id, heard) where state <> 'running';
create index turns_words on turns using gin (words);

create function keep_turn_words() returns trigger language plpgsql as $$
begin
  new.words := turn_words(new.id, new.heard);
  return new;
end
$$;
create trigger turns_keep_words before update of state on turns for each row
when (old.state = 'running' and new.state <> 'running') execute function keep_turn_words();

-- A result by the id of its tool use.
create index turn_blocks_results on turn_blocks ((content ->> 'tool_use_id')) where block_type = 'tool_result';
