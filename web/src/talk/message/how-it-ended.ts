/** Labels for how an answer ended or a message's delivery. A complete one has none. */
export const HOW_IT_ENDED: Readonly<Record<string, string>> = {
  interrupted: "Interrupted",
  cancelled: "Stopped",
  failed: "Failed",
  sending: "Sending …",
};
