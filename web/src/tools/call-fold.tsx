import { type Part, type SpokenTool, type ToolCall, useToolCalls } from "@parley/react";
import { type ReactNode, useState } from "react";
import { parentCallId } from "./asked-forms.tsx";
import { isQuiet, toTitle } from "./describe-call.ts";
import { toToolCall } from "./stored-call.ts";
import { useWords, type Words } from "../shared/words/words.ts";
import { toSeconds } from "../shared/words/formats.ts";

/** A call of an answer: one that this page has seen, or one from the record. */
export type CallPart = Extract<Part, { kind: "call" }> | SpokenTool;

interface CallFoldProps {
  /** The calls between two texts of an answer. */
  readonly parts: readonly CallPart[];
  /** The id of the answer. */
  readonly messageId: string;
  /** The calls' cards. */
  readonly children: ReactNode;
}

/** Shows calls that have succeeded as one line, which opens their cards. Other calls always show their cards. */
export function CallFold({ parts, messageId, children }: CallFoldProps): ReactNode {
  const stored = parts.flatMap((part) => ("kind" in part ? [] : toToolCall(part, messageId)));
  if (stored.length === parts.length) return <Fold calls={stored}>{children}</Fold>;
  const ids = parts.flatMap((part) => ("kind" in part ? part.toolUseId : []));
  return (
    <LiveFold ids={ids} stored={stored}>
      {children}
    </LiveFold>
  );
}

interface LiveFoldProps {
  readonly ids: readonly string[];
  readonly stored: readonly ToolCall[];
  readonly children: ReactNode;
}

function LiveFold({ ids, stored, children }: LiveFoldProps): ReactNode {
  const live = useToolCalls().filter(({ toolUseId }) => ids.includes(toolUseId));
  return <Fold calls={[...stored, ...live]}>{children}</Fold>;
}

interface FoldProps {
  readonly calls: readonly ToolCall[];
  readonly children: ReactNode;
}

function Fold({ calls, children }: FoldProps): ReactNode {
  const { calls: words } = useWords();
  const [isOpen, setOpen] = useState(false);
  // A form that a tool has shown is part of that tool's card.
  const quiet = calls.filter((call) => isQuiet(call) && parentCallId(call.toolUseId) === undefined);
  return (
    <div className="calls" data-open={isOpen}>
      {quiet.length > 0 && (
        <button type="button" className="quiet fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {toLine(quiet, words)}
        </button>
      )}
      {children}
    </div>
  );
}

/** `Used Calculator`, `Used 3 tools · 1.4 s`: a time that rounds to nothing is not shown. */
function toLine(calls: readonly ToolCall[], words: Words["calls"]): string {
  const [first] = calls;
  const what = first && calls.length === 1 ? words.used(toTitle(first.name)) : words.usedTools(calls.length);
  const began = calls.flatMap(({ startedAt }) => startedAt ?? []);
  const ended = calls.flatMap(({ finishedAt }) => finishedAt ?? []);
  const tenths = Math.round((Math.max(...ended) - Math.min(...began)) / 100);
  const isKnown = began.length > 0 && ended.length > 0 && tenths > 0;
  return isKnown ? `${what} · ${toSeconds(tenths / 10)}` : what;
}
