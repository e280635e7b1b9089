import { checkField, type FieldValue, type FormField, type OpenForm, parseField, useForms } from "@parley/react";
import { type FormEvent, type ReactNode, useId, useRef, useState } from "react";
import { FieldInput, type Filled } from "./field-input.tsx";

/** The forms by which tools and the model ask this person for something. */
export function Forms(): ReactNode {
  return useForms().map((form) => <FormCard key={form.id} form={form} />);
}

function FormCard({ form: { message, fields, problem, answer } }: { readonly form: OpenForm }): ReactNode {
  const id = useId();
  const element = useRef<HTMLFormElement>(null);
  const [filled, setFilled] = useState(() => new Map(fields.map((field) => [field.name, toFilled(field)])));
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { content, wrong } = readAll(fields, filled);
    setProblems(wrong);
    const [first] = wrong.keys();
    if (first === undefined) answer({ action: "accept", content });
    else element.current?.querySelector<HTMLElement>(`[name="${CSS.escape(`${id}-${first}`)}"]`)?.focus();
  };

  return (
    <form ref={element} className="ask" aria-labelledby={`${id}-message`} noValidate onSubmit={submit}>
      <div role="alert">
        <p id={`${id}-message`}>{message}</p>
        {problem !== undefined && <p className="problem">{problem}</p>}
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
        <button className="primary">Answer</button>
        <button type="button" onClick={() => answer({ action: "decline" })}>
          Refuse
        </button>
        <button type="button" onClick={() => answer({ action: "cancel" })}>
          Not now
        </button>
      </p>
    </form>
  );
}

/** The first value of a field: a list for several choices, else a text; "no" for a box that is not ticked. */
function toFilled({ type, initial }: FormField): Filled {
  if (type === "choices") return Array.isArray(initial) ? initial : [];
  if (type === "boolean") return initial === true ? "yes" : "no";
  return initial === undefined ? "" : String(initial);
}

interface Read {
  readonly content: Readonly<Record<string, FieldValue>>;
  /** Problems by the field's name. */
  readonly wrong: ReadonlyMap<string, string>;
}

function readAll(fields: readonly FormField[], filled: ReadonlyMap<string, Filled>): Read {
  const content = new Map<string, FieldValue>();
  const wrong = new Map<string, string>();
  for (const field of fields) {
    const value = filled.get(field.name) ?? "";
    const isEmpty = (typeof value === "string" ? value.trim() : value).length === 0;
    if (isEmpty && !field.isRequired) continue;
    const read = typeof value === "string" ? parseField(field, value) : checkField(field, value);
    if ("problem" in read) wrong.set(field.name, read.problem);
    else content.set(field.name, read.value);
  }
  return { content: Object.fromEntries(content), wrong };
}
