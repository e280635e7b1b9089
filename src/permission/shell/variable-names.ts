/** Harmless upper-case names: neither bash nor other programs use them to find programs. */
const KNOWN_CAPITALS: ReadonlySet<string> = new Set("CI DEBUG FORCE_COLOR NODE_ENV NO_COLOR PORT".split(" "));
/** Bash's two lower-case special names, and names that programs use to find a proxy or a registry. */
const SPECIAL = /^(?:auto_resume|histchars|npm_.*|.*_proxy)$/iu;

/**
 * Whether a line may set this variable without permission. Bash gives meaning to upper-case names (`PATH`, `IFS`),
 * evaluates the values of some (`RANDOM`), and keeps adding more. A single letter, or a name with a lower-case letter,
 * is the author's own variable.
 */
export function isOrdinaryName(name: string): boolean {
  if (!/^[a-zA-Z_]\w*$/u.test(name) || SPECIAL.test(name)) return false;
  return /[a-z]/u.test(name) || /^[A-Z]$/u.test(name) || KNOWN_CAPITALS.has(name);
}
