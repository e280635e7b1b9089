import { existsSync } from "node:fs";
import { glob, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const LINK = /(!?)\[((?:`[^`]*`|[^[\]`])*)\]\(([^()\s]+)\)/g;
const ELSEWHERE = /^(?:[a-z]+:|#)/;

/**
 * Removes links to files outside a package from its pages, and keeps the links' texts. Removes all links to files from
 * the package's README, because a registry shows the README on its own.
 */
export async function keepOwnLinks(folder: string): Promise<void> {
  for await (const name of glob("**/*.md", { cwd: folder })) {
    const path = join(folder, name);
    const isThere = (target: string) => {
      const file = join(dirname(path), target.replace(/#.*/, ""));
      return name !== "README.md" && file.startsWith(`${folder}/`) && existsSync(file);
    };
    const text = await readFile(path, "utf8");
    const lost = [...text.matchAll(LINK)].filter(([, , , to = ""]) => !ELSEWHERE.test(to) && !isThere(to));
    const kept = lost.reduce(
      (page, [link, image, label = ""]) => page.replace(link, () => (image === "" ? label : "")),
      text,
    );
    await writeFile(path, kept);
  }
}
