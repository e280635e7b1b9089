/** Labels for an answer that did not complete, or a message that is not delivered yet. */
export const STATE_LABELS: Readonly<Record<string, string>> = {
  interrupted: "Interrupted",
  cancelled: "Stopped",
  failed: "Failed",
  sending: "Sending …",
};
