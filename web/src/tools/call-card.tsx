import { isOpen, type ToolCall } from "@parley/react";
import { Fragment, type ReactNode } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { toVisible } from "../shared/exact-json.ts";
import { ExactText } from "../shared/exact-text.tsx";
import { useClockAhead } from "../shared/worker-clock.ts";
import { AskedForms } from "./asked-forms.tsx";
import { CallLog } from "./call-log.tsx";
import { CancelCall } from "./cancel-call.tsx";
import { isQuiet, toExtra, toPretty, toRefusal, toRunner, toState, toSummary, toTitle } from "./describe-call.ts";
import { DisplayView } from "./display-view.tsx";
import { toExtraAnswers } from "./extra-answers.ts";
import { SaveFullCall } from "./save-full-call.tsx";
import { TimeLeft } from "./time-left.tsx";
import { useWords } from "../shared/words/words.ts";
import { toDuration, toPercent } from "../shared/words/formats.ts";

const ICONS: Readonly<Record<ToolCall["status"], string>> = {
  writing: "…",
  pending: "…",
  running: "▸",
  success: "✓",
  error: "✕",
  cancelled: "–",
};

/** Shows one call: a summary of what it does, then all its details. */
export function CallCard({ call }: { readonly call: ToolCall }): ReactNode {
  const { name, inputJson, output, error, errorCode, logs, progress } = call;
  const { id, isCut, editedInput, deadlineAt, display } = call;
  const allWords = useWords();
  const { calls: words } = allWords;
  const { identity: me } = useJoinedTalk();
  const aheadMs = useClockAhead();
  const refusal = toRefusal(call, allWords);
  const status = refusal ? "cancelled" : call.status;
  const runner = call.approver === undefined && !refusal ? toRunner(call, me, words) : "";
  const state = refusal?.state ?? toState(call, me, words);
  return (
    <div
      className="call"
      role="group"
      data-status={status}
      data-quiet={isQuiet(call)}
      aria-label={`${toTitle(name)}${allWords.colon}${state}`}
    >
      <details>
        <summary>
          <span className="icon" aria-hidden="true">
            {ICONS[status]}
          </span>
          <span className="call-title">
            <strong>{toTitle(name)}</strong> <Summary inputJson={inputJson} />
          </span>
          <span className="call-state">{words.line(state, runner, refusal ? "" : tookOf(call))}</span>
        </summary>
        <dl>
          <dt>{words.tool}</dt>
          <dd>
            <code>{toVisible(name)}</code>
          </dd>
          {inputJson !== "" && <JsonRow title={words.arguments} json={inputJson} />}
          {editedInput !== undefined && <JsonRow title={words.ranWith} json={editedInput} />}
          {output !== undefined && <JsonRow title={words.result} json={output} />}
        </dl>
        {isCut === true && id !== undefined && <SaveFullCall callId={id} name={name} />}
      </details>
      {progress !== undefined && isOpen(call) && (
        <progress value={progress} aria-label={words.progress(toTitle(name))}>
          {toPercent(progress)}
        </progress>
      )}
      {logs.length > 0 && <CallLog title={words.logOf(toTitle(name))} lines={logs} isRunning={isOpen(call)} />}
      {id !== undefined && <AskedForms callId={id} />}
      {isOpen(call) && deadlineAt !== undefined && <TimeLeft until={deadlineAt + aheadMs} />}
      {isCancellable(call) && <CancelCall callId={call.id} title={toTitle(name)} />}
      {display && <DisplayView display={display} />}
      {refusal?.note !== undefined && (
        <p className="extra">
          <ExactText>{refusal.note}</ExactText>
        </p>
      )}
      {error !== undefined && !refusal && (
        <p className="note">
          <ExactText>{error}</ExactText> {errorCode !== undefined && <code>{toVisible(errorCode)}</code>}
        </p>
      )}
      {toExtraAnswers(call).map((answer, index) => (
        <p key={index} className="extra">
          {toExtra(answer, me, words)}
        </p>
      ))}
    </div>
  );
}

function Summary({ inputJson }: { readonly inputJson: string }): ReactNode {
  return (
    <span className="call-summary">
      {toSummary(inputJson).map((value, index) => (
        <Fragment key={index}>
          {index > 0 && " · "}
          <bdi>{value}</bdi>
        </Fragment>
      ))}
    </span>
  );
}

function JsonRow({ title, json }: { readonly title: string; readonly json: string }): ReactNode {
  return (
    <>
      <dt>{title}</dt>
      <dd>
        <pre tabIndex={0} aria-label={title}>
          {toPretty(json)}
        </pre>
      </dd>
    </>
  );
}

/**
 * Whether a call can be canceled. Calls that the model is still writing have no id, and neither do calls that Anthropic
 * runs.
 */
function isCancellable(call: ToolCall): call is ToolCall & Required<Pick<ToolCall, "id">> {
  return isOpen(call) && call.id !== undefined;
}

function tookOf({ startedAt, finishedAt }: ToolCall): string {
  if (startedAt === undefined || finishedAt === undefined) return "";
  return toDuration(finishedAt - startedAt);
}
