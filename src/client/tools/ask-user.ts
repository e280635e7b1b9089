import {
  ASK_USER,
  ASK_USER_SCHEMA,
  type AskUserInput,
  type FormAnswer,
  type FormField,
  readForm,
} from "../../protocol/forms/form.ts";
import type { ClientTool, ToolContext } from "./client-tool.ts";

/** What a person needs to find what was asked of them, and to think. */
const PERSON_MS = 120_000;

/** A form that somebody is to fill in. */
export interface Form {
  readonly message: string;
  /** In the order in which they are asked; may be none: then the message alone is accepted or not. */
  readonly fields: readonly FormField[];
  /** Why the form comes again: what was given last did not fit. */
  readonly problem: string | undefined;
}

/**
 * The tool `ask_user`: by it the worker's tools have this participant fill in forms, and the model may, too.
 *
 * @param show shows a form, and resolves with what became of it. It is withdrawn when `signal` aborts
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
