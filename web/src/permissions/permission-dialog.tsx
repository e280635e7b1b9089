import { type Permission, usePermissions } from "@parley/react";
import { ConnectionState, RoomEvent } from "livekit-client";
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { toExactJson, toVisible } from "../shared/exact-json.ts";
import { useRoomValue } from "../shared/use-room-value.ts";
import { toTitle } from "../tools/describe-call.ts";
import { AnswerTime } from "./answer-time.tsx";
import { LongArguments } from "./long-arguments.tsx";
import { Problem } from "../shared/problem.tsx";
import { getWords, useWords } from "../shared/words/words.ts";

/**
 * How long a yes is ignored after a request has appeared: an earlier key press or click was meant for something else on
 * the page.
 */
const READY_AFTER_MS = 600;
const STATE_EVENTS = [RoomEvent.ConnectionStateChanged];

/**
 * Shows the oldest permission request waiting for this participant. Closes itself when the request is answered
 * elsewhere, or when this page has left the room: the request could then no longer be answered, and would cover the
 * button to rejoin.
 */
export function PermissionDialog(): ReactNode {
  const { open } = usePermissions();
  const { liveKit } = useJoinedTalk();
  const connection = useRoomValue(liveKit, STATE_EVENTS, ({ state }) => state);
  const [permission] = open;
  if (connection === ConnectionState.Disconnected) return null;
  return permission && <Question key={permission.id} permission={permission} waiting={open.length - 1} />;
}

interface QuestionProps {
  readonly permission: Permission;
  /** The number of further requests. */
  readonly waiting: number;
}

function Question({ permission, waiting }: QuestionProps): ReactNode {
  const { permission: words } = useWords();
  const { approve, reject, extend } = usePermissions();
  const { id, title, patterns, type, toolName, callId, input, allowsEditedInput, expiresAt, problem } = permission;
  const dialog = useRef<HTMLDialogElement>(null);
  const [isReady, setReady] = useState(false);
  const [reason, setReason] = useState("");
  const exact = input && toExactJson(input);
  const [draft, setDraft] = useState(exact);
  const [failure, setFailure] = useState<string>();
  const edited = draft === exact ? undefined : draft;

  useEffect(() => {
    const timer = setTimeout(() => setReady(true), READY_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);

  // A layout effect, because the dialog must be closed before its element is removed. Otherwise, the focus would not be
  // restored.
  useLayoutEffect(() => {
    const element = dialog.current;
    // The dialog itself receives the focus first, not a button, so that a space or Enter typed into the composer cannot
    // approve anything.
    element?.showModal();
    element?.focus();
    return () => element?.close();
  }, []);

  const tell = (sent: Promise<void>) => {
    setFailure(undefined);
    sent.catch((error: unknown) => setFailure(error instanceof Error ? error.message : String(error)));
  };
  const answer = (how: "once" | "always" | "reject") => tell(how === "reject" ? refuse() : allow(how));
  const refuse = async () => reject(id, reason.trim() === "" ? {} : { message: reason.trim() });
  const allow = async (how: "once" | "always") =>
    approve(id, how, edited === undefined ? {} : { editedInput: parseInput(edited) });

  const onKeyDown = (event: KeyboardEvent) => {
    const isText = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement;
    if (!isReady || isText || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === "y") answer("once");
    if (key === "n") answer("reject");
    if (key === "m") tell(extend(id));
  };

  return (
    <dialog
      ref={dialog}
      className="permission"
      role="alertdialog"
      aria-labelledby="permission-title"
      aria-describedby="permission-what"
      tabIndex={-1}
      onKeyDown={onKeyDown}
      // Escape is not an answer. Browsers close the dialog on a second Escape anyway, so `onClose` reopens it.
      onCancel={(event) => event.preventDefault()}
      onClose={({ currentTarget }) => currentTarget.isConnected && !currentTarget.open && currentTarget.showModal()}
    >
      <div className="eyebrow">
        <p>{waiting === 0 ? words.title : words.titleOfSeveral(waiting)}</p>
        {expiresAt !== undefined && <AnswerTime until={expiresAt} onMoreTime={() => tell(extend(id))} />}
      </div>
      <h2 id="permission-title" dir="auto">
        {toVisible(title)}
      </h2>
      <div id="permission-what">
        <p>{type === "tool" ? words.agentWantsTool : words.toolWantsAccess(toTitle(toolName ?? type))}</p>
        <ul className="patterns">
          {patterns.map((pattern, index) => (
            <li key={index}>
              <code>{toVisible(pattern)}</code>
            </li>
          ))}
        </ul>
      </div>
      {exact === undefined && <LongArguments callId={callId} />}
      {exact !== undefined && allowsEditedInput && (
        <label className="field">
          {words.editableArguments}
          <textarea
            rows={5}
            dir="ltr"
            value={draft}
            spellCheck={false}
            onChange={(event) => setDraft(event.target.value)}
          />
        </label>
      )}
      {exact !== undefined && !allowsEditedInput && (
        <pre tabIndex={0} aria-label={words.exactArguments}>
          {exact}
        </pre>
      )}
      <label className="field">
        {words.reason}
        <input
          value={reason}
          dir="auto"
          onChange={(event) => setReason(event.target.value)}
          onKeyDown={({ key, nativeEvent }) => {
            if (key === "Enter" && !nativeEvent.isComposing && reason.trim() !== "") answer("reject");
          }}
        />
      </label>
      <Problem text={failure ?? problem} />
      <div className="row answers">
        <button
          type="button"
          className="primary"
          disabled={!isReady}
          onClick={() => answer("once")}
          aria-keyshortcuts="y"
        >
          {words.allowOnce} <kbd aria-hidden="true">y</kbd>
        </button>
        <button type="button" disabled={!isReady} onClick={() => answer("always")}>
          {words.alwaysAllow}
        </button>
        <button type="button" className="danger" onClick={() => answer("reject")} aria-keyshortcuts="n">
          {words.deny} <kbd aria-hidden="true">n</kbd>
        </button>
      </div>
    </dialog>
  );
}

function parseInput(text: string): Record<string, never> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, never>;
  } catch {
    // Reported below.
  }
  throw new Error(getWords().permission.notAnObject);
}
