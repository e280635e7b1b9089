import { useEffect } from "react";

/**
 * Keeps the focus on the page. A button can disappear while it has the focus, such as Stop when the answer ends. The
 * browser would then drop the focus, and keyboard users would have to start again at the top of the page.
 */
export function useFocusFallback(): void {
  useEffect(() => {
    let last: HTMLElement | undefined;
    let panel: Element | null = null;
    const onFocusIn = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement)) return;
      last = target;
      panel = target.closest(".panel");
    };
    // A click outside all fields is a deliberate blur: the previously focused element still exists.
    const onFocusOut = ({ target, relatedTarget }: FocusEvent) => {
      queueMicrotask(() => {
        if (relatedTarget === null && target === last && last?.isConnected && !last.matches(":disabled"))
          last = undefined;
      });
    };
    const keep = () => {
      if (!last || (last.isConnected && !last.matches(":disabled"))) return;
      const { activeElement } = document;
      if (activeElement !== document.body && activeElement !== last) return;
      const inPanel = panel?.isConnected ? panel.querySelector<HTMLElement>(".panel-close") : undefined;
      (inPanel ?? document.getElementById("message"))?.focus();
    };
    const changed = new MutationObserver(keep);
    changed.observe(document.body, { subtree: true, childList: true, attributeFilter: ["disabled"] });
    document.addEventListener("focusin", onFocusIn);
    document.addEventListener("focusout", onFocusOut);
    return () => {
      changed.disconnect();
      document.removeEventListener("focusin", onFocusIn);
      document.removeEventListener("focusout", onFocusOut);
    };
  }, []);
}
