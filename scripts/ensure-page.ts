import { execFile } from "node:child_process";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isNewer } from "./is-newer.ts";
import { programEnvironment } from "../src/tool/program-environment.ts";

const ROOT = join(import.meta.dirname, "..");
/** Missing in an installation without development's packages. */
export const VITE = join(ROOT, "node_modules/vite/bin/vite.js");
const PAGE = join(ROOT, "web/dist");
/** What the page is made of. */
const SOURCES = [
  "web/{src,public}/**/*",
  "web/*.{html,ts}",
  "clients/react/src/**/*",
  "src/{client,protocol,errors,lib}/**/*",
  "package-lock.json",
];

/**
 * Builds the page that the worker serves, unless the built one is newer than all its sources. In a process of its own: what
 * is built depends on `NODE_ENV`, which a test's process has its own value of.
 */
export async function ensurePage(): Promise<void> {
  if (await isNewer(join(PAGE, "index.html"), SOURCES)) return;
  const folder = `${PAGE}-${process.pid}`;
  const args = [VITE, "build", "web", "--outDir", folder, "--logLevel", "warn"];
  try {
    await promisify(execFile)(process.execPath, args, {
      cwd: ROOT,
      env: { ...programEnvironment(), NODE_ENV: "production" },
    });
    // In one step, for whoever reads it meanwhile.
    await rm(PAGE, { recursive: true, force: true });
    await rename(folder, PAGE);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
