import type { ReactNode } from "react";

interface IconButtonProps {
  readonly label: string;
  /** An SVG path in a 24 by 24 box, drawn as a line. */
  readonly path: string;
  readonly onClick: () => void;
  /** Whether a toggle button is on. */
  readonly isPressed?: boolean;
  readonly isDisabled?: boolean;
}

export function IconButton({ label, path, onClick, isPressed, isDisabled = false }: IconButtonProps): ReactNode {
  return (
    <button
      type="button"
      className="icon-button"
      title={label}
      aria-label={label}
      aria-pressed={isPressed}
      disabled={isDisabled}
      onClick={onClick}
    >
      <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
        <path fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" d={path} />
      </svg>
    </button>
  );
}
