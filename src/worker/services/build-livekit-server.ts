import { spawn } from "node:child_process";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { AppError } from "../../errors/app-error.ts";
import { DOWNLOADS, programEnvironment } from "../../tool/program-environment.ts";
import { ProcessGroupReaper } from "../../tool/process-group-reaper.ts";
import { LIVEKIT_VERSION, makeLivekitServer } from "./livekit-cache.ts";
import type { ReportProgress } from "./service.ts";

const MODULE = `github.com/livekit/livekit-server/cmd/server@v${LIVEKIT_VERSION}`;
/** Variables passed to Go: its own settings, the machine's proxies and certificates, and the C compiler. */
const GO_SETTINGS = [
  ...DOWNLOADS,
  ..."GOPATH GOROOT GOENV GOFLAGS GOCACHE GOMODCACHE GOTMPDIR GOTOOLCHAIN GOMAXPROCS".split(" "),
  ..."GOPROXY GONOPROXY GOPRIVATE GOSUMDB GONOSUMDB GOINSECURE GOAUTH GOVCS".split(" "),
  ..."XDG_CACHE_HOME XDG_CONFIG_HOME CGO_ENABLED CC CXX".split(" "),
];
const PROGRESS_EVERY_MS = 10_000;
export const WAYS_TO_LIVEKIT = [
  "1. set LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET to a LiveKit that runs elsewhere;",
  "2. put a `livekit-server` on PATH (https://github.com/livekit/livekit/releases);",
  "3. connect this machine to the internet; Parley then runs LiveKit's image with Docker or Podman, or downloads LiveKit's release (not on macOS);",
  "4. install Go (https://go.dev/dl); Parley then builds livekit-server into PARLEY_CACHE_DIR, which needs the internet once.",
] as const;

/**
 * Returns the path of the livekit-server in the cache. Builds it first if it is missing, which takes one to two
 * minutes.
 *
 * @throws {AppError} `unavailable` if it cannot be built
 */
export async function buildLivekitServer(cacheDir: string, progress: ReportProgress): Promise<string> {
  return makeLivekitServer(cacheDir, progress, (binary) => build(binary, progress));
}

async function build(binary: string, progress: ReportProgress): Promise<void> {
  const folder = dirname(binary);
  const output = join(folder, "bin");
  const startedAt = performance.now();
  const elapsed = () => `${Math.round((performance.now() - startedAt) / 1000)} s`;
  progress(`building livekit-server ${LIVEKIT_VERSION} into ${folder} (once; about two minutes on two cores)`);
  let packages = 0;
  const lastLines: string[] = [];
  // Go writes each finished download and package to stderr. After a failure, the last lines show why.
  const onLine = (line: string) => {
    packages += 1;
    lastLines.push(line);
    if (lastLines.length > 8) lastLines.shift();
  };
  const timer = setInterval(
    () => progress(`building livekit-server: ${elapsed()}, ${packages} packages`),
    PROGRESS_EVERY_MS,
  );
  try {
    await runGo(["install", "-v", MODULE], { GOBIN: output }, onLine);
    await rename(join(output, "server"), binary);
    progress(`livekit-server is built (${elapsed()})`);
  } catch (error) {
    throw new AppError("unavailable", [howToGetOne(error), ...lastLines].join("\n  "), { cause: error });
  } finally {
    clearInterval(timer);
    await rm(output, { recursive: true, force: true });
  }
}

async function runGo(args: readonly string[], env: NodeJS.ProcessEnv, onLine: (line: string) => void): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const reaper = new ProcessGroupReaper();
  const child = spawn("go", args, {
    env: { ...programEnvironment(...GO_SETTINGS), ...env },
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  });
  reaper.watch(child.pid);
  createInterface({ input: child.stderr }).on("line", onLine);
  child.once("error", ended.reject);
  child.once("close", (code, signal) => {
    if (code === 0) ended.resolve();
    else ended.reject(new Error(`"go install" ended with ${signal ?? `code ${code}`}`));
  });
  await ended.promise.finally(() => reaper.end());
}

function howToGetOne(error: unknown): string {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  const reason = isMissing ? "Go is not installed" : error instanceof Error ? error.message : String(error);
  return [`No livekit-server: ${reason}. Four ways to get one:`, ...WAYS_TO_LIVEKIT].join("\n  ");
}
