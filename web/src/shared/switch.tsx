import type { ReactNode } from "react";

interface SwitchProps {
  readonly isOn: boolean;
  readonly title: string;
  readonly hint: string;
  readonly onChange: (isOn: boolean) => void;
}

export function Switch({ isOn, title, hint, onChange }: SwitchProps): ReactNode {
  return (
    <label className="switch">
      <input type="checkbox" role="switch" checked={isOn} onChange={({ target: { checked } }) => onChange(checked)} />
      <span>
        <strong>{title}</strong>
        <small>{hint}</small>
      </span>
    </label>
  );
}
