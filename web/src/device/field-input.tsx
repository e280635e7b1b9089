import type { FormField } from "@parley/react";
import type { ReactNode } from "react";

interface FieldInputProps {
  readonly field: FormField;
  readonly id: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
}

/** More choices than these are a list to open. */
const MAX_RADIOS = 6;
const INPUT_TYPES: Readonly<Record<string, string>> = { email: "email", uri: "url", date: "date" };

/** One field of a form, with its label, what it is for, and what is wrong with it. */
export function FieldInput({ field, id, value, problem, onChange }: FieldInputProps): ReactNode {
  const { type, label, description, isRequired, choices, format = "" } = field;
  const hints = [description !== undefined && `${id}-hint`, problem !== undefined && `${id}-problem`];
  const common = {
    name: id,
    "aria-describedby": hints.filter(Boolean).join(" ") || undefined,
    "aria-invalid": problem !== undefined,
    "aria-required": isRequired,
  };
  const title = isRequired ? label : `${label} (may be left out)`;
  const notes = (
    <>
      {description !== undefined && <small id={`${id}-hint`}>{description}</small>}
      {problem !== undefined && (
        <span id={`${id}-problem`} className="field-problem">
          {label}: {problem}
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
          {label}
        </label>
        {notes}
      </div>
    );
  if (type === "choice" && choices.length <= MAX_RADIOS)
    return (
      <fieldset className="field" aria-describedby={common["aria-describedby"]}>
        <legend>{title}</legend>
        {choices.map((choice) => (
          <label key={choice.value} className="tick">
            <input
              type="radio"
              name={id}
              checked={value === String(choice.value)}
              onChange={() => onChange(String(choice.value))}
            />
            {choice.label}
          </label>
        ))}
        {notes}
      </fieldset>
    );
  return (
    <div className="field">
      <label htmlFor={id}>{title}</label>
      {type === "choice" ? (
        <select {...common} id={id} value={value} onChange={({ target }) => onChange(target.value)}>
          <option value="" />
          {choices.map((choice) => (
            <option key={choice.value} value={String(choice.value)}>
              {choice.label}
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
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
      {notes}
    </div>
  );
}
