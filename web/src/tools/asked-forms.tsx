import { isOpen, type ToolCall, useToolCalls } from "@parley/react";
import { memo, type ReactNode } from "react";
import { ExactText } from "../shared/exact-text.tsx";

/** Returns the id of the call that shows this form, or `undefined` for a call made by the model. */
export function parentCallId(toolUseId: string): string | undefined {
  return /^form:([\w-]+):/u.exec(toolUseId)?.[1];
}

/** The forms that a call has shown, each as one line in its card. */
export const AskedForms = memo(function AskedForms({ callId }: { readonly callId: string }): ReactNode {
  const forms = useToolCalls().filter(({ toolUseId }) => toolUseId.startsWith(`form:${callId}:`));
  return forms.map((form) => (
    <p key={form.toolUseId} className="extra">
      <ExactText>{toQuestion(form)}</ExactText>: {toAnswer(form)}
    </p>
  ));
});

function toQuestion({ inputJson }: ToolCall): string {
  const { message } = parse(inputJson);
  return typeof message === "string" ? message : "A form";
}

function toAnswer(form: ToolCall): string {
  if (isOpen(form)) return "waiting for an answer";
  if (form.status === "cancelled") return "cancelled";
  const { action } = parse(form.output ?? "");
  if (action === "accept") return "answered";
  return action === "decline" ? "declined" : "not answered";
}

function parse(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
