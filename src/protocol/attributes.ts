/** Set on a participant while its room has no agent because all workers are full. The next agent to join removes it. */
export const WAITING_ATTRIBUTE = "parley.waiting";
export const WAITING_FOR_SLOT = "workers_full";

/** LiveKit's attribute for the agent's state. */
export const LIVEKIT_STATE_ATTRIBUTE = "lk.agent.state";
/** Parley's attribute for the agent's state. Set on each of our agents from the moment it joins. */
export const AGENT_STATE_ATTRIBUTE = "parley.agent.state";
/**
 * LiveKit's attribute on a participant that publishes for an agent, such as an avatar. Its value identifies that agent.
 * LiveKit's clients do not treat a participant with this attribute as the room's agent.
 */
export const ON_BEHALF_ATTRIBUTE = "lk.publish_on_behalf";

/** Set on an agent that is handing its session over and still serves the room. The next agent waits for the session. */
export const HANDOVER_ATTRIBUTE = "parley.agent.handover";

const GONE = "gone";

/** The attributes of an agent that does not serve the room yet. */
export const JOINING_ATTRIBUTES = {
  [LIVEKIT_STATE_ATTRIBUTE]: "initializing",
  [AGENT_STATE_ATTRIBUTE]: "initializing",
};
/**
 * The attributes of an agent that no longer serves the room, but stays in it until the next agent has joined. LiveKit's
 * clients show such an agent as thinking.
 */
export const GONE_ATTRIBUTES = { [LIVEKIT_STATE_ATTRIBUTE]: "thinking", [AGENT_STATE_ATTRIBUTE]: GONE };

/** Whether an agent's attributes say that it no longer serves the room. */
export function isGone(attributes: Readonly<Record<string, string>>): boolean {
  return attributes[AGENT_STATE_ATTRIBUTE] === GONE;
}

/**
 * Whether an agent with these attributes serves the room: it is not gone, and does not publish on behalf of another
 * agent.
 */
export function isServing(attributes: Readonly<Record<string, string>> = {}): boolean {
  return !isGone(attributes) && !attributes[ON_BEHALF_ATTRIBUTE];
}
