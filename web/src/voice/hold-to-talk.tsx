import { type ReactNode, useEffect, useRef } from "react";
import { useHeldTurn } from "./use-held-turn.ts";
import { Problem } from "../shared/problem.tsx";
import { useWords } from "../shared/words/words.ts";

/** Where the space bar has a meaning of its own. */
const CONTROLS = "input, textarea, select, button, summary, a[href], audio, video, [contenteditable]";

/**
 * The person speaks while they hold this button, or the space bar anywhere but in a field or on another control. Escape
 * drops what was said. For screen readers, which press and release a button at once, a press begins and the next one
 * ends.
 */
export function HoldToTalk(): ReactNode {
  const { voice: words } = useWords();
  const { isHeld, ended, problem, begin, end } = useHeldTurn();
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    /** Whether the space bar holds the turn. Otherwise, its release ends nothing. */
    let isKeyDown = false;
    const isOther = ({ target }: KeyboardEvent) =>
      target instanceof Element && target !== button.current && target.closest(CONTROLS) !== null;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === "Escape") end("dropped");
      if (event.key !== " " || event.ctrlKey || event.altKey || event.metaKey || isOther(event)) return;
      // Neither scrolls the page nor clicks the button.
      event.preventDefault();
      if (event.repeat) return;
      isKeyDown = true;
      begin();
    };
    const onKeyUp = (event: KeyboardEvent) => {
      if (event.key !== " " || !isKeyDown) return;
      isKeyDown = false;
      event.preventDefault();
      end("sent");
    };
    // The page does not notice when a key is released in another window.
    const onBlur = () => end("sent");
    window.addEventListener("keydown", onKeyDown);
    window.addEventListener("keyup", onKeyUp);
    window.addEventListener("blur", onBlur);
    return () => {
      window.removeEventListener("keydown", onKeyDown);
      window.removeEventListener("keyup", onKeyUp);
      window.removeEventListener("blur", onBlur);
    };
  }, [begin, end]);

  useEffect(() => {
    // Takes the focus from an empty message field, where the space bar would type. Whoever is doing something else keeps
    // it.
    const { activeElement: active } = document;
    const isIdle = active === document.body || (active instanceof HTMLTextAreaElement && active.value === "");
    if (isIdle) button.current?.focus();
  }, []);

  return (
    <>
      <button
        ref={button}
        type="button"
        className="hold"
        aria-pressed={isHeld}
        aria-keyshortcuts="Space"
        onPointerDown={({ currentTarget, pointerId, button: which }) => {
          if (which !== 0) return;
          // The release counts even beside the button.
          currentTarget.setPointerCapture(pointerId);
          begin();
        }}
        onPointerUp={() => end("sent")}
        onPointerCancel={() => end("sent")}
        onContextMenu={(event) => event.preventDefault()}
        onClick={({ detail }) => {
          // A click without a pointer: Enter, or a screen reader.
          if (detail > 0) return;
          if (isHeld) end("sent");
          else begin();
        }}
      >
        {words.holdToTalk}
      </button>
      <span className="visually-hidden" role="status">
        {isHeld && words.hearsYou}
        {ended === "sent" && words.sent}
        {ended === "dropped" && words.dropped}
      </span>
      <Problem text={problem === undefined ? undefined : words.couldNotHear(problem)} />
    </>
  );
}
