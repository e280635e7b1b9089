import { checkField, type FieldValue, type FormField, type OpenForm, parseField, useForms } from "@parley/react";
import { type FormEvent, type ReactNode, useId, useRef, useState } from "react";
import { toVisible } from "../shared/exact-json.ts";
import { FieldInput, type Filled } from "./field-input.tsx";
import { getWords, useWords } from "../shared/words/words.ts";

/** The form's values by field name. */
type Draft = ReadonlyMap<string, Filled>;

/** The forms that tools and the model have asked this person to fill in. */
export function Forms(): ReactNode {
  /** The latest answers, by the form's message. If an answer is rejected, the same form is shown again as a new one. */
  const answers = useRef(new Map<string, Draft>());
  return useForms().map((form) => (
    <FormCard
      key={form.id}
      form={form}
      earlier={form.problem === undefined ? undefined : answers.current.get(form.message)}
      onAnswered={(draft) => answers.current.set(form.message, draft)}
    />
  ));
}

interface FormCardProps {
  readonly form: OpenForm;
  /** This person's last answer, if it was rejected. */
  readonly earlier: Draft | undefined;
  readonly onAnswered: (draft: Draft) => void;
}

function FormCard({ form, earlier, onAnswered }: FormCardProps): ReactNode {
  const { form: words } = useWords();
  const { message, fields, problem, answer } = form;
  const id = useId();
  const element = useRef<HTMLFormElement>(null);
  const fieldProblem = problem === undefined ? undefined : toFieldProblem(fields, problem);
  const [filled, setFilled] = useState(
    () => new Map(fields.map((field) => [field.name, earlier?.get(field.name) ?? toFilled(field)])),
  );
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map(fieldProblem && [fieldProblem]));

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { content, wrong } = readAll(fields, filled);
    setProblems(wrong);
    const [first] = wrong.keys();
    if (first === undefined) {
      onAnswered(filled);
      answer({ action: "accept", content });
    } else element.current?.querySelector<HTMLElement>(`[name="${CSS.escape(`${id}-${first}`)}"]`)?.focus();
  };

  return (
    <form ref={element} className="ask" aria-labelledby={`${id}-message`} noValidate onSubmit={submit}>
      <div role="alert">
        <p id={`${id}-message`} dir="auto">
          {toVisible(message)}
        </p>
        {problem !== undefined && !fieldProblem && <p className="problem">{toVisible(problem)}</p>}
      </div>
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          id={`${id}-${field.name}`}
          value={filled.get(field.name) ?? ""}
          problem={problems.get(field.name)}
          onChange={(value) => setFilled(new Map(filled).set(field.name, value))}
        />
      ))}
      <p className="row">
        <button className="primary">{words.answer}</button>
        <button type="button" onClick={() => answer({ action: "decline" })}>
          {words.decline}
        </button>
        <button type="button" onClick={() => answer({ action: "cancel" })}>
          {words.notNow}
        </button>
      </p>
    </form>
  );
}

/** Returns a field's initial value: a list for multiple choice, "yes" or "no" for a checkbox, otherwise a string. */
function toFilled({ type, initial }: FormField): Filled {
  if (type === "choices") return Array.isArray(initial) ? initial : [];
  if (type === "boolean") return initial === true ? "yes" : "no";
  return initial === undefined ? "" : String(initial);
}

/**
 * Splits a worker's problem such as `"mail": Invalid email address` into the name of a field and that field's problem.
 */
function toFieldProblem(fields: readonly FormField[], problem: string): readonly [string, string] | undefined {
  for (const { name } of fields) {
    // The name may be followed by an index in a list.
    const named = [`"${name}": `, `"${name}.`].find((start) => problem.startsWith(start));
    if (named !== undefined) return [name, problem.slice(problem.indexOf('": ') + 3)];
  }
  return undefined;
}

interface Read {
  readonly content: Readonly<Record<string, FieldValue>>;
  /** Problems by field name. */
  readonly wrong: ReadonlyMap<string, string>;
}

function readAll(fields: readonly FormField[], filled: ReadonlyMap<string, Filled>): Read {
  const content = new Map<string, FieldValue>();
  const { form: words } = getWords();
  const wrong = new Map<string, string>();
  for (const field of fields) {
    const value = filled.get(field.name) ?? "";
    const isEmpty = (typeof value === "string" ? value.trim() : value).length === 0;
    if (isEmpty && !field.isRequired) continue;
    if (isEmpty && field.type !== "choices") {
      wrong.set(field.name, field.type === "choice" ? words.chooseOne : words.fillIn);
      continue;
    }
    const read = typeof value === "string" ? parseField(field, value) : checkField(field, value);
    if ("problem" in read) wrong.set(field.name, read.problem);
    else content.set(field.name, read.value);
  }
  return { content: Object.fromEntries(content), wrong };
}
