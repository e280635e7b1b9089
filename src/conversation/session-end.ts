/**
 * Why a session ended:
 *
 * - participants_left: all participants left
 * - ended_by_agent: the agent ended the call (`end_call`, `idle`)
 * - room_deleted: somebody deleted the room
 * - unknown: no agent was in the room when it closed
 */
export type EndReason = "participants_left" | "ended_by_agent" | "room_deleted" | "unknown";
