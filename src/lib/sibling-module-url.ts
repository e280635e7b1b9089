/**
 * Returns the URL of one of Parley's modules that runs in its own thread or process.
 *
 * @param from the `import.meta.url` of the calling module
 * @param path relative to `from`, without the extension: `.ts` in the repository, `.js` in the package
 */
export function siblingModuleUrl(from: string, path: string): URL {
  return new URL(`${path}${from.slice(from.lastIndexOf("."))}`, from);
}
