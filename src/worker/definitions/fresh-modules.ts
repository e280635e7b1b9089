import { realpathSync } from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

/**
 * Lets changed modules in some folders be imported again. Node cannot unload a module, but it loads a different URL as
 * a new module. So the URL of a renewed module gets a version, such as `file:///tools/dice.ts?v=2`. Modules that import
 * a renewed module are renewed too, because they would otherwise keep using its old version. All other modules keep
 * their state.
 *
 * Old versions stay in memory until the process exits, so use this only in development. Create an instance before the
 * first of these modules is imported.
 */
export class FreshModules {
  readonly #roots: readonly string[];
  /** Versions by file URL. */
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

  /** Renews these files and all modules that import them. Returns a function that checks whether a file was renewed. */
  renew(files: readonly string[]): (file: string) => boolean {
    const renewed = new Set(files.map(toUrl));
    // A loop over a Set also visits items added during the loop.
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

/** Node imports a file by its real path. A deleted file has no real path, so its path is used unchanged. */
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
