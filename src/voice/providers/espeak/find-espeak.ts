import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { isInstalled } from "../is-installed.ts";

/** Where espeak-ng is: an installed program, or its build as an npm package. */
export type Espeak = { readonly kind: "program"; readonly path: string } | { readonly kind: "package" };

export async function findEspeak(env: NodeJS.ProcessEnv): Promise<Espeak | undefined> {
  for (const folder of (env["PATH"] ?? "").split(delimiter).filter(Boolean)) {
    const path = join(folder, "espeak-ng");
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return { kind: "program", path };
  }
  return isInstalled("espeak-ng") ? { kind: "package" } : undefined;
}
