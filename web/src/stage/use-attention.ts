import { usePermissions } from "@parley/react";
import { useEffect } from "react";
import { toVisible } from "../shared/exact-json.ts";
import { useNotifies } from "../shared/notify.ts";
import { useWords } from "../shared/words/words.ts";

/** Draws the attention of a person whose tab is in the background while the agent waits for them. */
export function useAttention(isWaiting: boolean): void {
  const { waitingTitle, waitingNotification } = useWords().stage;
  const { open } = usePermissions();
  const notifies = useNotifies();
  const question = toVisible(open[0]?.title ?? "");
  useEffect(() => {
    document.title = isWaiting ? waitingTitle : "Parley";
    return () => {
      document.title = "Parley";
    };
  }, [isWaiting, waitingTitle]);
  useEffect(() => {
    if (!isWaiting || !notifies || !document.hidden) return undefined;
    const shown = show(waitingNotification, question);
    return () => shown?.close();
  }, [isWaiting, notifies, question, waitingNotification]);
}

function show(title: string, question: string): Notification | undefined {
  try {
    const notification = new Notification(title, { body: question, tag: "parley" });
    notification.addEventListener("click", () => {
      window.focus();
      notification.close();
    });
    return notification;
  } catch {
    // Some phones show notifications only from a service worker.
    return undefined;
  }
}
