import { isOpen, type ToolCall, useToolCalls } from "@parley/react";
import { memo, type ReactNode } from "react";
import { ExactText } from "../shared/exact-text.tsx";
import { useWords, type Words } from "../shared/words/words.ts";

/** Returns the id of the call that shows this form, or `undefined` for a call made by the model. */
export function parentCallId(toolUseId: string): string | undefined {
  return /^form:([\w-]+):/u.exec(toolUseId)?.[1];
}

/** The forms that a call has shown, each as one line in its card. */
export const AskedForms = memo(function AskedForms({ callId }: { readonly callId: string }): ReactNode {
  const { calls: words, colon } = useWords();
  const forms = useToolCalls().filter(({ toolUseId }) => toolUseId.startsWith(`form:${callId}:`));
  return forms.map((form) => (
    <p key={form.toolUseId} className="extra">
      <ExactText>{questionOf(form) ?? words.form}</ExactText>
      {colon}
      {words.formStates[stateOf(form)]}
    </p>
  ));
});

function questionOf({ inputJson }: ToolCall): string | undefined {
  const { message } = parse(inputJson);
  return typeof message === "string" ? message : undefined;
}

function stateOf(form: ToolCall): keyof Words["calls"]["formStates"] {
  if (isOpen(form)) return "open";
  if (form.status === "cancelled") return "cancelled";
  const { action } = parse(form.output ?? "");
  return action === "accept" || action === "decline" ? action : "cancel";
}

function parse(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
