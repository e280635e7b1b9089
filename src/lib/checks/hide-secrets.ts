/**
 * Patterns with their replacements. No pattern matches across a quote or a backslash, so a line of JSON remains valid
 * JSON.
 */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // The user and password of a URL, then its query.
  [/\b([a-z][a-z\d+.-]{0,20}:\/\/)[^\s/?#"'\\]*@/giu, "$1"],
  [/\b([a-z][a-z\d+.-]{0,20}:\/\/[^\s?"'\\]*)\?[^\s"'\\),]+/giu, "$1?…"],
  // Signed tokens. When LiveKit rejects a token, its error contains the token.
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/gu, "…"],
  [/\b(Bearer|Basic) +[\w.~+/=-]{6,}/giu, "$1 …"],
  [/\b((?:proxy-)?authorization|x-api-key|(?:set-)?cookie)(\\?["']: *\\?["']|: *)[^\s"'\\,{}[\]]+/giu, "$1$2…"],
  [/\b(\w*(?:password|passwd|secret|token|api_?key))=[^\s"'\\&,;]+/giu, "$1=…"],
  [/\b(?:sk|pk|rk)[-_][\w-]{12,}|\b(?:whsec_|gh[a-z]_|github_pat_|xox[a-z]-|AKIA|AIza)[\w+/=-]{8,}/gu, "…"],
];

/**
 * Removes credentials from a text: users, passwords and queries of URLs, tokens, values of authentication headers, and
 * anything that looks like a key. Used for errors and log lines, whose texts come from libraries and servers.
 */
export function hideSecrets(text: string): string {
  return PATTERNS.reduce((hidden, [pattern, replacement]) => hidden.replaceAll(pattern, replacement), text);
}
