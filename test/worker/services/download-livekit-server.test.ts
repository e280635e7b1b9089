import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { statSync } from "node:fs";
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { archiveFor, downloadLivekitServer } from "../../../src/worker/services/download-livekit-server.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const { name: ARCHIVE } = archiveFor(process.platform, process.arch);
const PROGRAM = `#!/bin/sh\necho livekit-server\n# ${"x".repeat(200_000)}\n`;
const quiet = () => {};

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server with the layout of LiveKit's releases. `answers` replaces its next answers to requests for the archive. */
class ReleaseServer implements AsyncDisposable {
  readonly requests: string[] = [];
  readonly answers: Answer[] = [];
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #archive: Buffer;
  checksums: string;

  private constructor(archive: Buffer) {
    this.#archive = archive;
    this.checksums = `${"0".repeat(64)}  livekit_other.tar.gz\n${createHash("sha256").update(archive).digest("hex")}  ${ARCHIVE}\n`;
  }

  static async start(): Promise<ReleaseServer> {
    await using folder = await tempFolder();
    await writeFile(join(folder.path, "livekit-server"), PROGRAM);
    await promisify(execFile)("tar", ["-cf", "archive", "livekit-server"], { cwd: folder.path });
    const server = new ReleaseServer(await readFile(join(folder.path, "archive")));
    await once(server.#server.listen(0, "127.0.0.1"), "listening");
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/download`;
  }

  /** Sends the first half of what was asked for, and closes the connection when that half has been written to disk. */
  readonly half: Answer = (request, response) => {
    const rest = this.#startAnswer(request, response);
    const half = Math.floor(rest.length / 2);
    const size = this.#archive.length - rest.length + half;
    response.write(rest.subarray(0, half));
    void vi
      .waitUntil(() => statSync(join(folder(), ARCHIVE), { throwIfNoEntry: false })?.size === size)
      .finally(() => response.destroy());
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { url = "", headers } = request;
    this.requests.push([url.slice(url.lastIndexOf("/") + 1), headers.range].filter(Boolean).join(" "));
    if (url === "/download/v1.13.5/checksums.txt") response.end(this.checksums);
    else if (url === `/download/v1.13.5/${ARCHIVE}`) response.writeHead(302, { location: `/assets/${ARCHIVE}` }).end();
    else if (url === `/assets/${ARCHIVE}`) (this.answers.shift() ?? this.#whole)(request, response);
    else response.writeHead(404).end();
  }

  readonly #whole: Answer = (request, response) => {
    response.end(this.#startAnswer(request, response));
  };

  #startAnswer({ headers }: IncomingMessage, response: ServerResponse): Buffer {
    const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1] ?? 0);
    const rest = this.#archive.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, { "content-length": rest.length });
    return rest;
  }
}

const releases = forEachTest(() => ReleaseServer.start());
const cache = forEachTest(tempFolder);
const folder = () => join(cache.path, "livekit-server-1.13.5");

beforeEach(() => {
  for (const name of ["http_proxy", "HTTP_PROXY"]) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const download = () => downloadLivekitServer(cache.path, quiet, releases.url);

test("the release is downloaded once, follows LiveKit's redirect, and can be run", async () => {
  const program = await download();
  await download();

  expect((await promisify(execFile)(program)).stdout).toBe("livekit-server\n");
  expect(await readdir(dirname(program))).toEqual(["livekit-server"]);
  expect(releases.requests).toEqual(["checksums.txt", ARCHIVE, ARCHIVE]);
});

test("half an archive is continued where it broke off", async () => {
  releases.answers.push(releases.half, releases.half);

  expect(await readFile(await download(), "utf8")).toBe(PROGRAM);
  expect(releases.requests.filter((each) => each.includes("bytes="))).toHaveLength(4);
});

test("a download that stops is continued by the next start", async () => {
  const gone: Answer = (_, response) => void response.writeHead(503).end();
  releases.answers.push(releases.half, gone);

  await expect(download()).rejects.toThrow("answers with status 503");
  releases.requests.length = 0;

  expect(await readFile(await download(), "utf8")).toBe(PROGRAM);
  expect(releases.requests.at(-1)).toMatch(/bytes=\d+-$/);
});

test("an archive that does not match the list of checksums is deleted and not used", async () => {
  const { checksums } = releases;
  releases.checksums = `${"1".repeat(64)}  ${ARCHIVE}\n`;

  await expect(download()).rejects.toThrow(`${ARCHIVE} does not match LiveKit's checksums.txt`);
  expect(await readdir(folder())).toEqual([]);

  releases.checksums = checksums;
  expect(await readFile(await download(), "utf8")).toBe(PROGRAM);
});

test("a release that is not there is an error with its address", async () => {
  const missing = `${releases.url}/missing`;

  await expect(downloadLivekitServer(cache.path, quiet, missing)).rejects.toThrow(
    `${missing}/v1.13.5/checksums.txt answers with status 404`,
  );
});

test("a list without this machine's archive is an error", async () => {
  releases.checksums = "";

  await expect(download()).rejects.toThrow(`checksums.txt does not list ${ARCHIVE}`);
});

test("a server that does not answer is given up after three seconds", async () => {
  releases.answers.push(() => {});
  const startedAt = performance.now();

  await expect(download()).rejects.toThrow(`${ARCHIVE} does not answer`);
  expect(performance.now() - startedAt).toBeLessThan(4_000);
});

test("a full disk is an error that says so, and leaves nothing behind", async () => {
  await mkdir(folder());
  await symlink("/dev/full", join(folder(), ARCHIVE));

  await expect(download()).rejects.toThrow("no space left on device");
  await expect(lstat(join(folder(), ARCHIVE))).rejects.toThrow("ENOENT");
});

test("it uses the proxy that the environment names", async () => {
  const asked: string[] = [];
  await using proxy = createServer(({ url = "" }, response) => {
    asked.push(url);
    response.writeHead(404).end();
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  vi.stubEnv("http_proxy", `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);

  await downloadLivekitServer(cache.path, quiet, "http://releases.invalid").catch(String);

  expect(asked).toEqual(["http://releases.invalid/v1.13.5/checksums.txt"]);
});

test.each([
  ["linux", "x64", "livekit_1.13.5_linux_amd64.tar.gz"],
  ["linux", "arm", "livekit_1.13.5_linux_armv7.tar.gz"],
  ["win32", "arm64", "livekit_1.13.5_windows_arm64.zip"],
])("the archive for %s on %s is %s", (platform, arch, name) => {
  expect(archiveFor(platform, arch).name).toBe(name);
});

test("LiveKit publishes no archive for macOS", () => {
  expect(() => archiveFor("darwin", "arm64")).toThrow("LiveKit publishes no livekit-server for darwin on arm64");
});
