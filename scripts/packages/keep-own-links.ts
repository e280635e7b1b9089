import { existsSync } from "node:fs";
import { glob, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const LINK = /(!?)\[((?:`[^`]*`|[^[\]`])*)\]\(([^()\s]+)\)/g;
const ELSEWHERE = /^(?:[a-z]+:|#)/;

/**
 * In a package's pages, replaces links to files outside the package with their texts. In the package's README, replaces
 * all links to files, because a registry shows the README on its own.
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
