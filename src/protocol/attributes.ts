/** Of a participant, while its room has no agent because all workers are full. An agent that comes removes it. */
export const WAITING_ATTRIBUTE = "parley.waiting";
export const WAITING_FOR_PLACE = "workers_full";
