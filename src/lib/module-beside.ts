/**
 * The address of a module of ours that is loaded by its address: in a thread, in a process.
 *
 * @param path from the module `from` (its `import.meta.url`), without the extension: `.ts` here, `.js` in the package
 */
export function moduleBeside(from: string, path: string): URL {
  return new URL(`${path}${from.slice(from.lastIndexOf("."))}`, from);
}
