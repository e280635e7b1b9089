import { readFile, writeFile } from "node:fs/promises";

interface Recorded<Figures> {
  /** The JSON file of the measurements. */
  readonly results: string;
  /** The page that shows the measurements. */
  readonly page: string;
  readonly write: (page: string, figures: Figures) => string;
}

/** Adds measurements to the recorded ones, and writes all of them into the page. Does nothing without `RECORD=1`. */
export async function record<Figures>(
  { results, page, write }: Recorded<Figures>,
  change: (known: Figures) => Partial<Figures>,
): Promise<void> {
  if (process.env["RECORD"] !== "1") return;
  const known = JSON.parse(await readFile(results, "utf8")) as Figures;
  const figures = { ...known, ...change(known) };
  await writeFile(results, `${JSON.stringify(figures, null, 2)}\n`);
  await writeFile(page, write(await readFile(page, "utf8"), figures));
}

export const today = () => new Date().toISOString().slice(0, 10);

/**
 * Replaces the figures between `<!-- recorded: … -->` and `<!-- /recorded -->` in a page.
 *
 * @throws {TypeError} if the page does not contain each of these places exactly once
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
