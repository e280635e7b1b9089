import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { buildLivekitServer } from "../../../src/worker/services/build-livekit-server.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-build-"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

/** Puts a `go` that runs this script on the PATH. Each run is recorded in `runs`. */
async function fakeGo(script: string): Promise<void> {
  const bin = join(folder, "path");
  await mkdir(bin);
  await writeFile(join(bin, "go"), `#!/bin/sh\necho "$@" >> ${folder}/runs\n${script}\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${bin}:/usr/bin:/bin`);
}

test("two simultaneous starts build it once, and a later one finds it", async () => {
  await fakeGo('mkdir -p "$GOBIN" && sleep 0.3 && echo built > "$GOBIN/server"');
  const lines: string[] = [];
  const progress = (line: string) => lines.push(line);

  const paths = await Promise.all([buildLivekitServer(folder, progress), buildLivekitServer(folder, progress)]);
  const later = await buildLivekitServer(folder, progress);

  expect(new Set([...paths, later]).size).toBe(1);
  expect(await readFile(later, "utf8")).toBe("built\n");
  expect(await readFile(join(folder, "runs"), "utf8")).toBe(
    "install -v github.com/livekit/livekit-server/cmd/server@v1.13.5\n",
  );
  expect(lines.filter((line) => line.startsWith("building"))).toHaveLength(1);
  expect(lines.some((line) => line.includes("waiting for it"))).toBe(true);
});

test("a build that fails says why and lists the four ways to get a server", async () => {
  await fakeGo('echo "dial tcp: lookup modules.invalid: no such host" >&2; exit 1');

  const error = await buildLivekitServer(folder, () => {}).catch(String);

  expect(error).toMatch(
    /"go install" ended with code 1[^]*1\. set LIVEKIT_URL[^]*2\. put[^]*PATH[^]*3\. connect[^]*4\. install Go[^]*no such host/,
  );
});

test("Go gets its own settings, and none of our keys", async () => {
  await fakeGo('env > "$GOBIN.env" && mkdir -p "$GOBIN" && echo built > "$GOBIN/server"');
  vi.stubEnv("GOPROXY", "https://proxy.example");
  vi.stubEnv("ANTHROPIC_API_KEY", "sk-secret");

  await buildLivekitServer(folder, () => {});

  const environment = await readFile(join(folder, "livekit-server-1.13.5/bin.env"), "utf8");
  expect(environment).toContain("GOPROXY=https://proxy.example");
  expect(environment).not.toContain("secret");
});

test("without Go an error says so", async () => {
  vi.stubEnv("PATH", join(folder, "nothing"));

  await expect(buildLivekitServer(folder, () => {})).rejects.toThrow("No livekit-server: Go is not installed");
});

test("the lock of a killed build delays nobody", async () => {
  await fakeGo('mkdir -p "$GOBIN" && echo built > "$GOBIN/server"');
  await mkdir(join(folder, "livekit-server-1.13.5"));
  await writeFile(join(folder, "livekit-server-1.13.5/build.pid"), "999999 1\n");

  expect(await buildLivekitServer(folder, () => {})).toMatch(/livekit-server$/);
});
