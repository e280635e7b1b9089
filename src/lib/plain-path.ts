/** The one spelling of a path: without `.`, doubled slashes, a slash at the end and, as far as it goes, without `..`. */
export function plainPath(path: string): string {
  const root = path.startsWith("/") ? "/" : "";
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue;
    const isAbove = names.length === 0 || names.at(-1) === "..";
    if (name !== ".." || (isAbove && root === "")) names.push(name);
    else names.pop();
  }
  return root + names.join("/") || ".";
}
