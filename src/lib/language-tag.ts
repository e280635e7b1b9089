const MAX_LENGTH = 64;

/** Returns the primary subtag of a BCP 47 tag in lower case, such as `en` for `en-GB`. */
export function primaryLanguage(tag = "en"): string {
  return tag.split("-", 1)[0]?.toLowerCase() ?? "";
}

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
