import { type FieldValue, type FormField, type OpenForm, parseField, useForms } from "@parley/react";
import { type FormEvent, type ReactNode, useId, useRef, useState } from "react";
import { FieldInput } from "./field-input.tsx";

/** What tools and the model ask this person for. */
export function Forms(): ReactNode {
  return useForms().map((form) => <FormCard key={form.id} form={form} />);
}

function FormCard({ form: { message, fields, problem, answer } }: { readonly form: OpenForm }): ReactNode {
  const id = useId();
  const element = useRef<HTMLFormElement>(null);
  const [typed, setTyped] = useState(() => new Map(fields.map((field) => [field.name, toText(field)])));
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { content, wrong } = readAll(fields, typed);
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
          value={typed.get(field.name) ?? ""}
          problem={problems.get(field.name)}
          onChange={(text) => setTyped(new Map(typed).set(field.name, text))}
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

/** Every field is kept as text; a box that is not ticked is "no". */
function toText({ type, initial }: FormField): string {
  if (type === "boolean") return initial === true ? "yes" : "no";
  return initial === undefined ? "" : String(initial);
}

interface Read {
  readonly content: Readonly<Record<string, FieldValue>>;
  /** What is wrong, by the field's name. */
  readonly wrong: ReadonlyMap<string, string>;
}

function readAll(fields: readonly FormField[], typed: ReadonlyMap<string, string>): Read {
  const content: Record<string, FieldValue> = {};
  const wrong = new Map<string, string>();
  for (const field of fields) {
    const text = typed.get(field.name) ?? "";
    if (text.trim() === "" && !field.isRequired) continue;
    const read = parseField(field, text);
    if ("problem" in read) wrong.set(field.name, read.problem);
    else content[field.name] = read.value;
  }
  return { content, wrong };
}
