import { execFileSync } from "node:child_process";
import { glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { programEnvironment } from "../../src/tool/program-environment.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Builds `tools/` into the package `parley`, whose own files are already in `folder`. */
export async function buildTools(folder: string): Promise<void> {
  const outDir = join(folder, "built");
  const tsconfig = join(folder, "tsconfig.tools.json");
  // The tools import `parley`, so this points to the package that was just built.
  const compilerOptions = { rootDir: ROOT, outDir, paths: { parley: [join(folder, "dist/index.d.ts")] } };
  const settings = {
    extends: join(ROOT, "packages/parley/tsconfig.json"),
    compilerOptions,
    include: [join(ROOT, "tools")],
  };
  await writeFile(tsconfig, JSON.stringify(settings));
  const compile = [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", tsconfig];
  execFileSync(process.execPath, compile, { cwd: ROOT, stdio: ["ignore", 2, 2], env: programEnvironment() });
  const built = (await Array.fromAsync(glob("tools/**/*.{js,d.ts}", { cwd: outDir }))).toSorted();
  for (const file of built) {
    const text = await readFile(join(outDir, file), "utf8");
    const target = join(folder, "dist", file);
    await mkdir(dirname(target), { recursive: true });
    // In the package, `dist/` corresponds to `src/`.
    await writeFile(target, text.replaceAll(/((?:from|import\() ?"(?:\.\.\/)+)src\//g, "$1"));
  }
  await Promise.all([outDir, tsconfig].map((path) => rm(path, { recursive: true })));
}
