const MAX_LENGTH = 64;

/**
 * Whether a text has the form of a BCP 47 tag. What participants name as their language becomes a part of commands, of
 * file names and of keys, so nothing else is taken for one.
 */
export function isLanguageTag(text: string | undefined): text is string {
  if (text === undefined || text.length > MAX_LENGTH) return false;
  try {
    return Intl.getCanonicalLocales(text).length > 0;
  } catch {
    return false;
  }
}
