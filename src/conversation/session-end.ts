/**
 * Why a session has ended: all participants have left; the agent has ended the call (`end_call`, `idle`); somebody has
 * deleted the room; or unknown, because no agent was in the room when it was closed.
 */
export type EndReason = "participants_left" | "ended_by_agent" | "room_deleted" | "unknown";
