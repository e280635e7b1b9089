/** Each in a form that never crosses a quote or a backslash, so that a line of JSON stays JSON. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // The user and the password of an address, then its query.
  [/\b([a-z][a-z\d+.-]{0,20}:\/\/)[^\s/?#"'\\]*@/giu, "$1"],
  [/\b([a-z][a-z\d+.-]{0,20}:\/\/[^\s?"'\\]*)\?[^\s"'\\),]+/giu, "$1?…"],
  // A signed token, which LiveKit repeats when it refuses it.
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/gu, "…"],
  [/\b(Bearer|Basic) +[\w.~+/=-]{6,}/giu, "$1 …"],
  [/\b((?:proxy-)?authorization|x-api-key|(?:set-)?cookie)(\\?["']: *\\?["']|: *)[^\s"'\\,{}[\]]+/giu, "$1$2…"],
  [/\b(\w*(?:password|passwd|secret|token|api_?key))=[^\s"'\\&,;]+/giu, "$1=…"],
  [/\b(?:sk|pk|rk)[-_][\w-]{12,}|\b(?:whsec_|gh[a-z]_|github_pat_|xox[a-z]-|AKIA|AIza)[\w+/=-]{8,}/gu, "…"],
];

/**
 * Takes out of a text what lets somebody in: users, passwords and queries of addresses, tokens, values of headers that
 * authenticate, and whatever looks like a key. For errors and log lines, whose words come from libraries and servers.
 */
export function hideSecrets(text: string): string {
  return PATTERNS.reduce((hidden, [pattern, replacement]) => hidden.replaceAll(pattern, replacement), text);
}
