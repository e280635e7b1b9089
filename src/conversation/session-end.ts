/**
 * Why a session ended: all participants left; the agent ended the call (`end_call`, `idle`); somebody deleted the room;
 * or unknown, because no agent was in the room when it closed.
 */
export type EndReason = "participants_left" | "ended_by_agent" | "room_deleted" | "unknown";
