import type { ReactNode } from "react";
import type { About } from "./join-talk.ts";
import { useWords } from "../shared/words/words.ts";

interface MoreFieldsProps {
  readonly about: About;
  readonly onChange: (about: About) => void;
}

interface Field {
  readonly name: keyof About;
  readonly example?: string;
  readonly pattern?: string;
}

const FIELDS: readonly Field[] = [
  { name: "agent", example: "default" },
  { name: "name" },
  { name: "language", example: "en-GB", pattern: "[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*" },
  { name: "attributes", example: '{"tier": "gold"}' },
  { name: "metadata", example: '{"customer": 7}' },
];

/** The optional fields of the join form. */
export function MoreFields({ about, onChange }: MoreFieldsProps): ReactNode {
  const { fields } = useWords().join;
  return FIELDS.map(({ name, example, pattern }) => (
    <label key={name} className="field">
      {fields[name]}
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
