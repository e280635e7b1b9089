/** Normalizes a path: no `.`, no repeated or trailing slashes, and `..` only at the start of a relative path. */
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
