/** How an answer ended, or what becomes of a message; nothing for one that is complete. */
export const HOW_IT_ENDED: Readonly<Record<string, string>> = {
  interrupted: "Interrupted",
  cancelled: "Stopped",
  failed: "Failed",
  sending: "Sending …",
};
