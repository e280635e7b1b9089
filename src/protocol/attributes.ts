/** Of a participant, while its room has no agent because all workers are full. An agent that comes removes it. */
export const WAITING_ATTRIBUTE = "parley.waiting";
export const WAITING_FOR_PLACE = "workers_full";

/** What an agent does, in LiveKit's words. */
export const LIVEKIT_STATE_ATTRIBUTE = "lk.agent.state";
/** The same in Parley's words. Every agent of ours has it from the moment in which it joins. */
export const AGENT_STATE_ATTRIBUTE = "parley.agent.state";
/**
 * LiveKit's name for the agent in whose place a participant publishes, such as an avatar. LiveKit's clients do not take
 * a participant that has it for the room's agent.
 */
export const ON_BEHALF_ATTRIBUTE = "lk.publish_on_behalf";

/** Of an agent that hands its session over and still serves the room: the agent that comes waits for the session. */
export const HANDOVER_ATTRIBUTE = "parley.agent.handover";

const GONE = "gone";

/** Of an agent that does not serve the room yet. */
export const JOINING_ATTRIBUTES = {
  [LIVEKIT_STATE_ATTRIBUTE]: "initializing",
  [AGENT_STATE_ATTRIBUTE]: "initializing",
};
/**
 * Of an agent that does not serve the room any more, and stays in it until its successor is there. LiveKit's clients
 * see one that thinks.
 */
export const GONE_ATTRIBUTES = { [LIVEKIT_STATE_ATTRIBUTE]: "thinking", [AGENT_STATE_ATTRIBUTE]: GONE };

/** Whether an agent with these attributes says that it serves the room no more. */
export function isGone(attributes: Readonly<Record<string, string>>): boolean {
  return attributes[AGENT_STATE_ATTRIBUTE] === GONE;
}

/** Whether an agent with these attributes counts: it has not gone, and does not publish for another one. */
export function isServing(attributes: Readonly<Record<string, string>> = {}): boolean {
  return !isGone(attributes) && !attributes[ON_BEHALF_ATTRIBUTE];
}
