import { useAgentState, useTalk } from "@parley/react";
import { type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { Loudspeaker } from "../voice/loudspeaker.tsx";
import { Microphone } from "../voice/microphone.tsx";
import { useSound } from "../voice/sound-switch.ts";
import { AttachButton } from "./attach-button.tsx";
import { AttachedFiles } from "./attached-files.tsx";
import { keepThumbnails } from "./message/sent-pictures.ts";
import { useAttachments } from "./use-attachments.ts";
import { ButtonLabel } from "./button-label.tsx";
import { Problem } from "../shared/problem.tsx";
import { useWords } from "../shared/words/words.ts";

const ICONS = {
  quiet: "M4 9.5v5h3.5L12 18.5v-13L7.5 9.5Zm12 0 5 5m0-5-5 5",
  stop: "M7 7h10v10H7Z",
  send: "M12 19V5m-6 6 6-6 6 6",
};
const BUSY: readonly string[] = ["thinking", "speaking", "using_tool", "waiting_for_permission"];

export function Composer(): ReactNode {
  const { talk: words } = useWords();
  const { send, stop } = useTalk();
  const { state } = useAgentState();
  const hasSound = useSound();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState("");
  const { files, problem, isTooLarge, add, remove, clear } = useAttachments();
  const isBusy = BUSY.includes(state);
  const isEmpty = text.trim() === "" && files.length === 0;

  /** Stops the answer, or only its speech. The Stop button disappears, so the focus moves to the text field. */
  const end = (what?: "speech") => {
    stop(what);
    field.current?.focus();
  };
  const submit = () => {
    // If the files are too large, nothing is sent until one of them is removed.
    if (isEmpty || isTooLarge) return;
    const id = send(text, { attachments: files.map(({ file }) => file) });
    keepThumbnails(
      id,
      files.map(({ thumbnail }) => thumbnail),
    );
    setText("");
    clear();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // While a word is being composed in an IME, Enter completes the word and must not send the message.
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
      <AttachedFiles files={files} onRemove={remove} />
      <Problem text={problem} />
      <Microphone />
      <Loudspeaker />
      <AttachButton onChosen={(chosen) => void add(chosen)} />
      <label className="visually-hidden" htmlFor="message">
        {words.message}
      </label>
      <textarea
        ref={field}
        id="message"
        rows={1}
        dir="auto"
        autoFocus
        value={text}
        placeholder={words.placeholder}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          const pasted = [...event.clipboardData.files];
          // Text copied from an office program includes a picture of the text.
          if (pasted.length === 0 || event.clipboardData.types.includes("text/plain")) return;
          event.preventDefault();
          void add(pasted);
        }}
      />
      {state === "speaking" && hasSound && (
        <button type="button" className="end" onClick={() => end("speech")}>
          <ButtonLabel word={words.quiet} path={ICONS.quiet} />
        </button>
      )}
      {isBusy && (
        <button type="button" className="stop" onClick={() => end()}>
          <ButtonLabel word={words.stop} path={ICONS.stop} />
        </button>
      )}
      {/* While the agent is busy and there is nothing to send, Stop replaces this button. */}
      {!(isBusy && isEmpty) && (
        <button className="primary send" disabled={isEmpty}>
          <ButtonLabel word={words.send} path={ICONS.send} />
        </button>
      )}
    </form>
  );
}
