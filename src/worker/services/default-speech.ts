import { resolve } from "node:path";
import type { SpeechUse } from "../../speech/start-model.ts";
import { installedSpeech, prepareSpeech } from "../../voice/providers/embedded/prepare-speech.ts";
import { addEnvFile } from "../settings/env-file.ts";
import type { TellProgress } from "./service.ts";

const VARIABLES = { listen: "STT", speak: "TTS" } as const satisfies Record<SpeechUse, string>;
const USUAL = { listen: "the agent does not listen", speak: "espeak-ng speaks" } as const satisfies Record<
  SpeechUse,
  string
>;
/** The repository runs as TypeScript. Its first start downloads the models; in the package, they are a package. */
const IS_CLONE = import.meta.url.endsWith(".ts");

interface Place {
  readonly cwd: string;
  readonly progress: TellProgress;
}

/**
 * Chooses the embedded models for STT and TTS in `env` if these are not set, the language is English, and the models are
 * on this machine. In a clone, downloads them first. Reports what was chosen and why.
 */
export async function addDefaultSpeech(env: NodeJS.ProcessEnv, { cwd, progress }: Place): Promise<void> {
  await addEnvFile(env, resolve(cwd, ".env"));
  const cacheDir = resolve(cwd, env["PARLEY_CACHE_DIR"] || ".cache");
  for (const use of ["listen", "speak"] as const) {
    const variable = VARIABLES[use];
    if (env[variable]) continue;
    try {
      await prepare(use, { language: env["STT_LANGUAGE"] || "en", cacheDir });
      env[variable] = "embedded";
      progress(`${variable} is not set: embedded models ${use}, in English`);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      progress(`${variable} is not set: ${USUAL[use]}, because ${problem}`);
    }
  }
}

/** @throws if the embedded model cannot be the default */
async function prepare(
  use: SpeechUse,
  { language, cacheDir }: { readonly language: string; readonly cacheDir: string },
): Promise<void> {
  if (!/^en(?:-|$)/iu.test(language))
    throw new Error(`the embedded models know only English, and STT_LANGUAGE is ${language}`);
  if (installedSpeech() === undefined && !IS_CLONE) throw new Error("@parley/speech is not installed");
  await prepareSpeech([use], cacheDir);
}
