-- LiveKit's id of the room that the session was last claimed in. With `continueConversation: false` a later room of the same
-- name gets a new session, and with it the conversation's id. The session of the earlier room then has its own id in
-- `conversation_id`, which is unique, and the id that it had is kept in `former_conversation_id`.
alter table sessions add column claimed_room text, add column former_conversation_id text;
