import { useAgentState, useTalk } from "@parley/react";
import { type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { Loudspeaker } from "../voice/loudspeaker.tsx";
import { Microphone } from "../voice/microphone.tsx";
import { useSound } from "../voice/sound-switch.ts";
import { AttachButton } from "./attach-button.tsx";
import { AttachedFiles } from "./attached-files.tsx";

const BUSY: readonly string[] = ["thinking", "speaking", "using_tool", "waiting_for_permission"];

export function Composer(): ReactNode {
  const { send, stop } = useTalk();
  const { state } = useAgentState();
  const hasSound = useSound();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState("");
  const [files, setFiles] = useState<readonly File[]>([]);
  const isBusy = BUSY.includes(state);
  const isEmpty = text.trim() === "" && files.length === 0;

  /** Ends the answer, or its sound alone. The button goes away, and the focus must go somewhere. */
  const end = (what?: "speech") => {
    stop(what);
    field.current?.focus();
  };
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
      <Loudspeaker />
      <AttachButton onChosen={(chosen) => setFiles([...files, ...chosen])} />
      <label className="visually-hidden" htmlFor="message">
        Message
      </label>
      <textarea
        ref={field}
        id="message"
        rows={1}
        autoFocus
        value={text}
        placeholder="Write here"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {state === "speaking" && hasSound && (
        <button type="button" onClick={() => end("speech")}>
          Quiet
        </button>
      )}
      {isBusy && (
        <button type="button" className="stop" onClick={() => end()}>
          Stop
        </button>
      )}
      <button className="primary" disabled={isEmpty}>
        Send
      </button>
    </form>
  );
}
