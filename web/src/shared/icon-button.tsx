import type { ReactNode } from "react";

interface IconButtonProps {
  readonly id?: string;
  readonly label: string;
  /** An SVG path in a 24 by 24 box, drawn as a line. */
  readonly path: string;
  readonly onClick: () => void;
  /** Whether a toggle button is on. */
  readonly isPressed?: boolean;
  /** Whether what the button opens is open. */
  readonly isExpanded?: boolean;
  readonly isDisabled?: boolean;
  /** Whether the button is small and without a frame. */
  readonly isQuiet?: boolean;
}

export function IconButton({ label, path, isQuiet = false, ...button }: IconButtonProps): ReactNode {
  return (
    <button
      type="button"
      id={button.id}
      className={isQuiet ? "icon-button quiet" : "icon-button"}
      title={label}
      aria-label={label}
      aria-pressed={button.isPressed}
      aria-expanded={button.isExpanded}
      disabled={button.isDisabled}
      onClick={button.onClick}
    >
      <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
        <path fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" strokeLinejoin="round" d={path} />
      </svg>
    </button>
  );
}
