import {
  ASK_USER,
  ASK_USER_SCHEMA,
  type AskUserInput,
  type FormAnswer,
  type FormField,
  readForm,
} from "../../protocol/forms/form.ts";
import type { ClientTool, ToolContext } from "./client-tool.ts";

/** How long a person has to answer: enough to notice the form and to think. */
const PERSON_MS = 120_000;

/** A form for a person to fill in. */
export interface Form {
  readonly message: string;
  /** In the order in which to ask them. If there are none, the person only accepts or declines the message. */
  readonly fields: readonly FormField[];
  /** Why the previous answer was invalid, if the form is shown again because of that. */
  readonly problem: string | undefined;
}

/**
 * Returns the tool `ask_user`, with which the model and the worker's tools ask this participant to fill in forms.
 *
 * @param show shows a form and resolves with its outcome; remove the form when `signal` aborts
 * @example
 * parley.registerTool(askUserTool((form, { signal }) => showForm(form, signal)));
 */
export function askUserTool(
  show: (form: Form, context: ToolContext) => FormAnswer | Promise<FormAnswer>,
): ClientTool<AskUserInput> {
  return {
    name: ASK_USER,
    description:
      "Asks this person for something by a form on the screen, and waits for the answer: " +
      'action is "accept", with content, or "decline", or "cancel" when nobody answered.',
    input: ASK_USER_SCHEMA,
    timeoutMs: PERSON_MS,
    readOnly: true,
    run: ({ message, requestedSchema, problem }, context) =>
      show({ message, fields: readForm(requestedSchema), problem }, context),
  };
}
