/**
 * Replaces the figures between `<!-- recorded: … -->` and `<!-- /recorded -->` in a page.
 *
 * @throws {TypeError} if the page does not have each of these places exactly once
 */
export function fillPlaces(page: string, texts: Readonly<Record<string, string>>): string {
  const names: string[] = [];
  const written = page.replaceAll(
    /(?<=<!-- recorded: ([\w-]+) -->)[^]*?(?=<!-- \/recorded -->)/g,
    (old: string, name: string) => {
      names.push(name);
      return texts[name] ?? old;
    },
  );
  if (names.toSorted().join() !== Object.keys(texts).toSorted().join())
    throw new TypeError(`The page has places for ${names.join(", ")}: expected ${Object.keys(texts).join(", ")}`);
  return written;
}
