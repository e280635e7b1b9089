import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { chmod, mkdir, rename, rm, stat } from "node:fs/promises";
import * as http from "node:http";
import * as https from "node:https";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { runCommand } from "../process/start-program.ts";
import { LIVEKIT_VERSION, makeLivekitServer } from "./livekit-cache.ts";
import type { ReportProgress } from "./service.ts";
import { SilenceLimit } from "./silence-limit.ts";

const RELEASES = "https://github.com/livekit/livekit/releases/download";
const CHECKSUMS = "checksums.txt";
const PROGRESS_EVERY_MS = 5_000;
const MAX_REDIRECTS = 5;
/** The processors for which LiveKit publishes livekit-server, by Node's names. */
const PROCESSORS: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64", arm: "armv7" };

/**
 * Returns the path of the livekit-server in the cache. Downloads LiveKit's release first if it is missing. What has
 * arrived before a connection breaks is kept, and the download continues from there, even after a restart.
 *
 * @param releases the address of a folder with a folder for each version
 * @throws {Error} if there is no release for this machine, if the download fails, or if it does not match LiveKit's
 *   list of checksums
 */
export async function downloadLivekitServer(
  cacheDir: string,
  progress: ReportProgress,
  releases = RELEASES,
): Promise<string> {
  const { name, program } = archiveFor(process.platform, process.arch);
  const base = `${releases}/v${LIVEKIT_VERSION}`;
  return makeLivekitServer(cacheDir, progress, async (binary) => {
    const archive = join(dirname(binary), name);
    const expected = await fetchChecksum(`${base}/${CHECKSUMS}`, name);
    await receive(`${base}/${name}`, archive, progress);
    const unpacked = join(dirname(binary), "unpacked");
    try {
      if ((await sha256Of(archive)) !== expected) throw new Error(`${name} does not match LiveKit's ${CHECKSUMS}`);
      await mkdir(unpacked, { recursive: true });
      await runCommand("tar", ["-xf", archive, "-C", unpacked, program]);
      await chmod(join(unpacked, program), 0o755);
      await rename(join(unpacked, program), binary);
    } finally {
      await Promise.all([archive, unpacked].map((path) => rm(path, { recursive: true, force: true })));
    }
    progress(`livekit-server ${LIVEKIT_VERSION} is downloaded`);
  });
}

/** Whether LiveKit's release for this machine can be downloaded now. */
export async function canDownloadLivekitServer(): Promise<boolean> {
  try {
    const { name } = archiveFor(process.platform, process.arch);
    await fetchChecksum(`${RELEASES}/v${LIVEKIT_VERSION}/${CHECKSUMS}`, name);
    return true;
  } catch {
    return false;
  }
}

/** Returns the names of a release's archive, and of the program in it. @throws {Error} if LiveKit publishes none */
export function archiveFor(platform: string, arch: string): { readonly name: string; readonly program: string } {
  const processor = PROCESSORS[arch];
  const stem = `livekit_${LIVEKIT_VERSION}_${platform === "win32" ? "windows" : platform}_${processor}`;
  if (processor !== undefined && platform === "linux") return { name: `${stem}.tar.gz`, program: "livekit-server" };
  if (processor !== undefined && platform === "win32") return { name: `${stem}.zip`, program: "livekit-server.exe" };
  throw new Error(`LiveKit publishes no livekit-server for ${platform} on ${arch}`);
}

async function fetchChecksum(url: string, name: string): Promise<string> {
  using limit = new SilenceLimit();
  const list = await text(await get(url, { signal: limit.signal })).catch(rethrowNaming(url, limit));
  const line = list.split("\n").find((each) => each.endsWith(` ${name}`) || each.endsWith(` *${name}`));
  const sum = /^[\da-f]{64}(?= )/u.exec(line ?? "")?.[0];
  if (sum === undefined) throw new Error(`${url} does not list ${name}`);
  return sum;
}

/** Downloads a file, or the rest of it. Tries again as long as each attempt gets further. */
async function receive(url: string, file: string, progress: ReportProgress): Promise<void> {
  for (let start = await sizeOf(file); ;) {
    try {
      return await receiveFrom(start, { url, file, progress });
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOSPC") await rm(file, { force: true });
      const size = await sizeOf(file);
      if (size <= start) throw error;
      start = size;
    }
  }
}

async function receiveFrom(
  start: number,
  { url, file, progress }: { readonly url: string; readonly file: string; readonly progress: ReportProgress },
): Promise<void> {
  using limit = new SilenceLimit();
  const { signal } = limit;
  const headers = start > 0 ? { range: `bytes=${start}-` } : {};
  const response = await get(url, { headers, signal }).catch(rethrowNaming(url, limit));
  // The server has nothing after `start`, so the file is complete.
  if (response.statusCode === 416) return void response.destroy();
  const isRest = response.statusCode === 206;
  let bytes = isRest ? start : 0;
  const total = bytes + Number(response.headers["content-length"] ?? 0);
  const report = () => progress(`downloading livekit-server: ${toMegabytes(bytes)} of ${toMegabytes(total)} MB`);
  progress(
    `downloading ${url} (${toMegabytes(total)} MB${isRest ? `, continuing after ${toMegabytes(start)} MB` : ""})`,
  );
  const timer = setInterval(report, PROGRESS_EVERY_MS);
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    limit.reset();
  });
  try {
    await pipeline(response, createWriteStream(file, { flags: isRest ? "a" : "w" })).catch(rethrowNaming(url, limit));
  } finally {
    clearInterval(timer);
  }
}

/**
 * Requests a file, and follows redirects: GitHub keeps its files on another server. Uses the proxy that the environment
 * names, which Node's `fetch` would do only with NODE_USE_ENV_PROXY.
 */
async function get(url: string, options: http.RequestOptions, redirects = 0): Promise<http.IncomingMessage> {
  const { Agent, request: open } = url.startsWith("https:") ? https : http;
  const request = open(url, { ...options, agent: new Agent({ proxyEnv: process.env }) });
  request.end();
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  // If the request is aborted while its body is read, it emits an error as well.
  request.on("error", () => {});
  const { statusCode = 0, headers } = response;
  if ((statusCode >= 200 && statusCode < 300) || statusCode === 416) return response;
  response.destroy();
  if (statusCode < 300 || statusCode >= 400 || headers.location === undefined || redirects === MAX_REDIRECTS)
    throw new Error(`${url} answers with status ${statusCode}`);
  return get(new URL(headers.location, url).href, options, redirects + 1);
}

function rethrowNaming(url: string, { signal }: SilenceLimit): (error: unknown) => never {
  return (error) => {
    throw signal.aborted ? new Error(`${url} does not answer`, { cause: error }) : error;
  };
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

const toMegabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
