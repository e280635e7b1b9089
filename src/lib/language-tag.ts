const MAX_LENGTH = 64;

/**
 * Whether a text has the form of a BCP 47 tag. A participant's language becomes part of commands, file names and keys,
 * so anything else is rejected.
 */
export function isLanguageTag(text: string | undefined): text is string {
  if (text === undefined || text.length > MAX_LENGTH) return false;
  try {
    return Intl.getCanonicalLocales(text).length > 0;
  } catch {
    return false;
  }
}
