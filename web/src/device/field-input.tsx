import type { FormField } from "@parley/react";
import type { ReactNode } from "react";
import { toVisible } from "../shared/exact-json.ts";
import { ExactText } from "../shared/exact-text.tsx";
import { useWords } from "../shared/words/words.ts";

/** A field's value in the form: its text, or the selected choices. */
export type Filled = string | readonly Choice["value"][];

type Choice = FormField["choices"][number];

interface FieldInputProps {
  readonly field: FormField;
  readonly id: string;
  readonly value: Filled;
  readonly problem: string | undefined;
  readonly onChange: (value: Filled) => void;
}

/** The maximum number of choices that are shown as radio buttons. With more choices, a drop-down list is shown. */
const MAX_RADIOS = 6;
const INPUT_TYPES: Readonly<Record<string, string>> = { email: "email", uri: "url", date: "date" };

/** One field of a form, with its label, description and problem. */
export function FieldInput({ field, id, value, problem, onChange }: FieldInputProps): ReactNode {
  const { type, description, isRequired, choices, format = "" } = field;
  const words = useWords();
  const label = toVisible(field.label);
  const hints = [description !== undefined && `${id}-hint`, problem !== undefined && `${id}-problem`];
  const common = {
    name: id,
    "aria-describedby": hints.filter(Boolean).join(" ") || undefined,
    "aria-invalid": problem !== undefined,
    "aria-required": isRequired,
  };
  const title = isRequired ? label : words.form.optional(label);
  const notes = (
    <>
      {description !== undefined && (
        <small id={`${id}-hint`} dir="auto">
          {toVisible(description)}
        </small>
      )}
      {problem !== undefined && (
        <span id={`${id}-problem`} className="field-problem">
          {label}
          {words.colon}
          {problem}
        </span>
      )}
    </>
  );
  if (type === "boolean")
    return (
      <div className="field">
        <label className="tick">
          <input
            {...common}
            type="checkbox"
            checked={value === "yes"}
            onChange={({ target: { checked } }) => onChange(checked ? "yes" : "no")}
          />
          <bdi>{label}</bdi>
        </label>
        {notes}
      </div>
    );
  if (type === "choices" || (type === "choice" && choices.length <= MAX_RADIOS))
    return (
      <fieldset className="field" aria-describedby={common["aria-describedby"]}>
        <legend dir="auto">{title}</legend>
        {choices.map((choice) => (
          <label key={choice.value} className="tick">
            <input
              type={type === "choices" ? "checkbox" : "radio"}
              name={id}
              checked={isTicked(value, choice)}
              onChange={({ target: { checked } }) => onChange(tick(value, choice, checked))}
            />
            <ExactText>{choice.label}</ExactText>
          </label>
        ))}
        {notes}
      </fieldset>
    );
  const text = typeof value === "string" ? value : "";
  return (
    <div className="field">
      <label htmlFor={id} dir="auto">
        {title}
      </label>
      {type === "choice" ? (
        <select {...common} id={id} value={text} onChange={({ target }) => onChange(target.value)}>
          <option value="" />
          {choices.map((choice) => (
            <option key={choice.value} value={String(choice.value)}>
              {toVisible(choice.label)}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          id={id}
          type={type === "string" ? (INPUT_TYPES[format] ?? "text") : "text"}
          inputMode={type === "string" ? undefined : "decimal"}
          autoComplete="off"
          dir="auto"
          value={text}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
      {notes}
    </div>
  );
}

function isTicked(filled: Filled, { value }: Choice): boolean {
  return typeof filled === "string" ? filled === String(value) : filled.includes(value);
}

/** Selects or deselects a choice. In a field with a single choice, the others are deselected. */
function tick(filled: Filled, { value }: Choice, isOn: boolean): Filled {
  if (typeof filled === "string") return String(value);
  const others = filled.filter((each) => each !== value);
  return isOn ? [...others, value] : others;
}
