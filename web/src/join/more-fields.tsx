import type { ReactNode } from "react";
import type { About } from "./join-talk.ts";

interface MoreFieldsProps {
  readonly about: About;
  readonly onChange: (about: About) => void;
}

interface Field {
  readonly name: keyof About;
  readonly label: string;
  readonly example?: string;
  readonly pattern?: string;
}

const FIELDS: readonly Field[] = [
  { name: "agent", label: "Agent", example: "default" },
  { name: "name", label: "Display name" },
  { name: "language", label: "Language", example: "en-GB", pattern: "[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*" },
  { name: "attributes", label: "Attributes (JSON)", example: '{"tier": "gold"}' },
  { name: "metadata", label: "Metadata", example: '{"customer": 7}' },
];

/** The optional fields of the join form. */
export function MoreFields({ about, onChange }: MoreFieldsProps): ReactNode {
  return FIELDS.map(({ name, label, example, pattern }) => (
    <label key={name} className="field">
      {label}
      <input
        value={about[name] ?? ""}
        onChange={(event) => onChange({ ...about, [name]: event.target.value })}
        placeholder={example}
        pattern={pattern}
        spellCheck={false}
        dir="auto"
      />
    </label>
  ));
}
