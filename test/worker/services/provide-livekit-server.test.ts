import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { endStaleLivekitServer, startLivekitServer } from "../../../src/worker/services/livekit-server.ts";
import { findLivekitServer, provideLivekitServer } from "../../../src/worker/services/provide-livekit-server.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { findFreePorts } from "../../support/servers/free-ports.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const OWN_CACHE = join(import.meta.dirname, "../../../.cache");
const ANSWERS = 'case "$1" in version) exit 0;; image) exit 1;; esac';
const BUILDS = 'mkdir -p "$GOBIN" && echo built > "$GOBIN/server"';

const folder = forEachTest(tempFolder);
const bin = () => join(folder.path, "bin");
const cache = () => join(folder.path, "cache");
const lines: string[] = [];
const provide = () => provideLivekitServer(cache(), (line) => lines.push(line));

beforeEach(async () => {
  await mkdir(bin());
  lines.length = 0;
  vi.stubEnv("PATH", `${bin()}:/usr/local/bin:/bin`);
  await Promise.all(["docker", "podman"].map((name) => program(name, "exit 1")));
  // Nothing listens there, so LiveKit's release cannot be downloaded.
  for (const name of ["https_proxy", "HTTPS_PROXY"]) vi.stubEnv(name, "http://127.0.0.1:9");
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** Puts a program that runs this script on PATH. Its runs are recorded in `runs`. */
async function program(name: string, script: string): Promise<void> {
  const text = `#!/bin/sh\necho "${name} $*" >> ${folder.path}/runs\n${script}\n`;
  await writeFile(join(bin(), name), text, { mode: 0o755 });
}

const runs = () => readFile(join(folder.path, "runs"), "utf8").catch(() => "");

test("a livekit-server in the cache is used at once, without asking anything else", async () => {
  await mkdir(join(cache(), "livekit-server-1.13.5"), { recursive: true });
  const cached = join(cache(), "livekit-server-1.13.5/livekit-server");
  await writeFile(cached, "");

  expect(await provide()).toEqual({ command: cached });
  expect(await runs()).toBe("");
  expect(lines).toEqual([]);
});

test("Docker is the first way, and pulls the image once", async () => {
  await program("docker", `${ANSWERS}; echo "v1.13.5: Pulling from livekit/livekit-server"`);

  expect(await provide()).toEqual({ containerClient: join(bin(), "docker") });
  expect(await runs()).toMatch(/^docker pull docker\.io\/livekit\/livekit-server:v1\.13\.5$/m);
  expect(lines).toEqual([expect.stringContaining("pulling docker.io/livekit/livekit-server:v1.13.5 with ")]);
});

test("Podman is used where Docker's engine does not run", async () => {
  await program("podman", "exit 0");

  expect(await provide()).toEqual({ containerClient: join(bin(), "podman") });
  expect(await runs()).not.toContain("pull");
});

test("a registry that does not answer costs three seconds, then Go builds the server, and each failure is said", async () => {
  await program("podman", `${ANSWERS}; echo "Trying to pull docker.io/livekit/livekit-server" >&2; exec sleep 60`);
  await program("go", BUILDS);
  const startedAt = performance.now();

  const { command } = { command: "", ...(await provide()) };

  expect(performance.now() - startedAt).toBeLessThan(6_000);
  expect(await readFile(command, "utf8")).toBe("built\n");
  expect(lines).toContain("no image of livekit-server: the registry does not answer");
  expect(lines.some((line) => line.startsWith("no release of livekit-server: "))).toBe(true);
  expect(lines.at(-1)).toMatch(/^livekit-server is built/);
});

test("if no way works, the error says why each failed, and what to do", async () => {
  await program("go", "exit 1");

  await expect(provide()).rejects.toThrow(
    /"go install" ended with code 1[^]*1\. set LIVEKIT_URL[^]*no image of livekit-server: neither Docker nor Podman runs here\n {2}no release of livekit-server: /,
  );
});

test("livekit-server runs in a container until it is closed, and its container is removed", async () => {
  const server = await findLivekitServer(OWN_CACHE);
  // `docker run` starts the real server as its own process instead of in a container.
  const starts = `echo abc123 > "$4"; exec ${server} --bind 127.0.0.1`;
  await program("docker", `case "$1" in run) ${starts};; esac`);
  const options = { dataDir: folder.path, cacheDir: cache(), port: await findFreePorts(3), progress: () => {} };

  const livekit = await startLivekitServer(options);
  const answer = await fetch(livekit.url.replace("ws:", "http:"));
  await livekit.close();

  expect(answer.ok).toBe(true);
  expect(await runs()).toMatch(
    new RegExp(
      `docker run .*--publish 127\\.0\\.0\\.1:${options.port}:${options.port} .*:v1\\.13\\.5\ndocker rm --force abc123\n`,
    ),
  );
  expect(await runs()).not.toContain(livekit.apiSecret);
});

test("a container that outlived its worker is removed by the next start", async () => {
  await program("docker", "exit 0");
  await writeFile(join(folder.path, "livekit-server.container"), "abc123");

  await endStaleLivekitServer(folder.path);
  await endStaleLivekitServer(folder.path);

  expect(await runs()).toMatch(/^docker rm --force abc123\npodman rm --force abc123\n$/);
});
