/**
 * Returns the URL of one of our modules that runs in a thread or a process of its own.
 *
 * @param from the `import.meta.url` of the calling module
 * @param path relative to `from`, without the extension: `.ts` in the repository, `.js` in the package
 */
export function moduleBeside(from: string, path: string): URL {
  return new URL(`${path}${from.slice(from.lastIndexOf("."))}`, from);
}
