import { useAgentState, useTalk } from "@parley/react";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { Microphone } from "../voice/microphone.tsx";

const BUSY: readonly string[] = ["thinking", "speaking", "using_tool", "waiting_for_permission"];

export function Composer(): ReactNode {
  const { send, stop } = useTalk();
  const { state } = useAgentState();
  const [text, setText] = useState("");
  const isBusy = BUSY.includes(state);

  const submit = () => {
    if (text.trim() === "") return;
    send(text);
    setText("");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // A word that is still being put together (IME) is ended by Enter, too.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Microphone />
      <label className="visually-hidden" htmlFor="message">
        Message
      </label>
      <textarea
        id="message"
        rows={1}
        value={text}
        placeholder="Write to the agent"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {isBusy && (
        <button type="button" className="stop" onClick={stop}>
          Stop
        </button>
      )}
      <button className="primary" disabled={text.trim() === ""}>
        Send
      </button>
    </form>
  );
}
