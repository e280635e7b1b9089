-- What the model wrote in a text block, if the hook `onAnswer` changed it or stopped the answer. Participants have received
-- `text_content`, which is also what the model is shown later.
alter table turn_blocks add column original text;
