/** Names in capitals that neither bash nor the programs in a line find other programs by. */
const KNOWN_CAPITALS: ReadonlySet<string> = new Set("CI DEBUG FORCE_COLOR NODE_ENV NO_COLOR PORT".split(" "));
/** Bash's two special names without capitals, and names by which programs find a proxy or a registry. */
const SPECIAL = /^(?:auto_resume|histchars|npm_.*|.*_proxy)$/iu;

/**
 * Whether a line may set this variable without a question. Bash gives a meaning to names in capitals (`PATH`, `IFS`), evaluates
 * values of some (`RANDOM`), and has more of them every year. Names with a small letter and single letters are the author's own.
 */
export function isOrdinaryName(name: string): boolean {
  if (!/^[a-zA-Z_]\w*$/u.test(name) || SPECIAL.test(name)) return false;
  return /[a-z]/u.test(name) || /^[A-Z]$/u.test(name) || KNOWN_CAPITALS.has(name);
}
