import { useAgentState, useTalk } from "@parley/react";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { Microphone } from "../voice/microphone.tsx";
import { AttachButton } from "./attach-button.tsx";
import { AttachedFiles } from "./attached-files.tsx";

const BUSY: readonly string[] = ["thinking", "speaking", "using_tool", "waiting_for_permission"];

export function Composer(): ReactNode {
  const { send, stop } = useTalk();
  const { state } = useAgentState();
  const [text, setText] = useState("");
  const [files, setFiles] = useState<readonly File[]>([]);
  const isBusy = BUSY.includes(state);
  const isEmpty = text.trim() === "" && files.length === 0;

  const submit = () => {
    if (isEmpty) return;
    send(text, { attachments: files });
    setText("");
    setFiles([]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter also ends a word that is being composed (IME): then nothing is sent.
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
      <AttachedFiles files={files} onRemove={(file) => setFiles(files.filter((each) => each !== file))} />
      <Microphone />
      <AttachButton onChosen={(chosen) => setFiles([...files, ...chosen])} />
      <label className="visually-hidden" htmlFor="message">
        Message
      </label>
      <textarea
        id="message"
        rows={1}
        autoFocus
        value={text}
        placeholder="Write here"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {isBusy && (
        <button type="button" className="stop" onClick={stop}>
          Stop
        </button>
      )}
      <button className="primary" disabled={isEmpty}>
        Send
      </button>
    </form>
  );
}
