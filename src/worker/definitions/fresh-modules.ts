import { realpathSync } from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

/**
 * Lets modules below some folders be imported anew. A module cannot be taken out of Node's memory, but under another
 * address it is another module: those that are renewed get a version, `file:///tools/dice.ts?v=2`. What imports a renewed
 * module is renewed, too, for it holds the old one. All others stay, with the state that they have.
 *
 * It is there for as long as the process; the old versions are, too: for development alone. Make it before the first of
 * these modules is imported.
 */
export class FreshModules {
  readonly #roots: readonly string[];
  /** By the address of the file. */
  readonly #versions = new Map<string, number>();
  readonly #importers = new Map<string, Set<string>>();

  constructor(folders: readonly string[]) {
    this.#roots = folders.map((folder) => `${toUrl(folder)}/`);
    registerHooks({
      resolve: (specifier, context, next) => {
        const found = next(specifier, context);
        const url = withoutQuery(found.url);
        if (!this.#isBelow(url)) return found;
        this.#note(url, withoutQuery(context.parentURL ?? ""));
        const version = this.#versions.get(url);
        return version === undefined ? found : { ...found, url: `${url}?v=${version}` };
      },
    });
  }

  /** Renews these files and all that import them. The returned function tells whether a file is one of these. */
  renew(files: readonly string[]): (file: string) => boolean {
    const renewed = new Set(files.map(toUrl));
    // A set goes on with what is added meanwhile.
    for (const url of renewed) {
      this.#versions.set(url, (this.#versions.get(url) ?? 1) + 1);
      for (const importer of this.#importers.get(url) ?? []) renewed.add(importer);
    }
    return (file) => renewed.has(toUrl(file));
  }

  #isBelow(url: string): boolean {
    return this.#roots.some((root) => url.startsWith(root));
  }

  #note(url: string, importer: string): void {
    if (!this.#isBelow(importer)) return;
    const importers = this.#importers.get(url) ?? new Set();
    this.#importers.set(url, importers.add(importer));
  }
}

/** Node imports a file by its real path. One that is gone has none. */
function toUrl(path: string): string {
  try {
    return pathToFileURL(realpathSync(path)).href;
  } catch {
    return pathToFileURL(path).href;
  }
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/su, "");
}
