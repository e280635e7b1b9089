import { useEffect } from "react";

/**
 * Keeps the focus on the page. Buttons go away while they have it, such as Stop when the answer ends: without this the
 * browser gives the focus to nothing, and whoever uses the keyboard starts again at the top of the page.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: HTMLElement | undefined;
    let panel: Element | null = null;
    const onFocusIn = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement)) return;
      last = target;
      panel = target.closest(".panel");
    };
    // Whoever clicks beside all fields means to leave: the button is still there then.
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
      const tab = panel?.querySelector<HTMLElement>("[role=tab][aria-selected=true]");
      (tab ?? document.getElementById("message"))?.focus();
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
