import { execFile } from "node:child_process";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isNewer } from "./is-newer.ts";
import { programEnvironment } from "../src/tool/program-environment.ts";

const ROOT = join(import.meta.dirname, "..");
/** Vite's program. It does not exist if dev dependencies are not installed. */
export const VITE = join(ROOT, "node_modules/vite/bin/vite.js");
const PAGE = join(ROOT, "web/dist");
/** The page's sources. */
const SOURCES = [
  "web/{src,public}/**/*",
  "web/*.{html,ts}",
  "clients/react/src/**/*",
  "src/{client,protocol,errors,lib}/**/*",
  "package-lock.json",
];

/**
 * Builds the page that the worker serves, unless the page is newer than all of its sources. Uses a separate process,
 * because the result depends on `NODE_ENV`, which differs in a test's process.
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
    // The page is replaced by renaming, so that nobody reads a half-written page.
    await rm(PAGE, { recursive: true, force: true });
    await rename(folder, PAGE);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
