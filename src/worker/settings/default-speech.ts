import { resolve } from "node:path";
import type { EmbeddedUse } from "../../speech/start-model.ts";
import { installedSpeech, prepareSpeech } from "../../voice/providers/embedded/prepare-speech.ts";
import { addEnvFile } from "./env-file.ts";

const VARIABLES = { listen: "STT", speak: "TTS" } as const satisfies Record<EmbeddedUse, string>;
const INSTEAD = { listen: "the agent does not listen", speak: "espeak-ng speaks" } as const satisfies Record<
  EmbeddedUse,
  string
>;
/**
 * Whether this is a clone of the repository, which runs as TypeScript. A clone downloads the models at its first start.
 * An installed Parley has them only if the package `@parley/speech` is installed.
 */
const IS_CLONE = import.meta.url.endsWith(".ts");

/** The variable STT or TTS, which is not set. */
interface UnsetSpeech {
  readonly use: EmbeddedUse;
  readonly variable: "STT" | "TTS";
  /** Why the embedded model is not the default. */
  readonly problem: string | undefined;
}

/**
 * Returns those of STT and TTS that neither `env` nor `.env` sets. For each, `problem` says why the embedded model is
 * not the default. There is no problem if the language is English, and if this is a clone or the package
 * `@parley/speech` is installed. Adds the variables in `.env` to `env`.
 */
export async function unsetSpeech(env: NodeJS.ProcessEnv, cwd: string): Promise<UnsetSpeech[]> {
  await addEnvFile(env, resolve(cwd, ".env"));
  const problem = problemOf(env["STT_LANGUAGE"] || "en");
  const uses = (["listen", "speak"] as const).filter((use) => !env[VARIABLES[use]]);
  return uses.map((use) => ({ use, variable: VARIABLES[use], problem }));
}

function problemOf(language: string): string | undefined {
  if (!/^en(?:-|$)/iu.test(language)) return `the embedded models know only English, and STT_LANGUAGE is ${language}`;
  return installedSpeech() === undefined && !IS_CLONE ? "the package @parley/speech is not installed" : undefined;
}

interface DefaultSpeechOptions {
  readonly cwd: string;
  /** `voice` of parley.config.ts, whose plugins override STT and TTS. */
  readonly plugins?: Readonly<Partial<Record<EmbeddedUse, unknown>>>;
  readonly progress: (line: string) => void;
}

/**
 * Sets STT and TTS in `env` to `embedded`, each only if it is unset, `embedded` is its default and parley.config.ts has
 * no plugin instead. In a clone, downloads the models first. Reports what was chosen and why.
 */
export async function addDefaultSpeech(
  env: NodeJS.ProcessEnv,
  { cwd, plugins = {}, progress }: DefaultSpeechOptions,
): Promise<void> {
  const unset = await unsetSpeech(env, cwd);
  for (const use of ["listen", "speak"] as const) {
    if (plugins[use] === undefined) continue;
    const variable = VARIABLES[use];
    const ignored = env[variable] ? `, ${variable}=${env[variable]} is ignored` : "";
    progress(`voice.${use} is set in parley.config.ts: its plugin ${use}s${ignored}`);
  }
  for (const { use, variable, problem } of unset.filter((each) => plugins[each.use] === undefined)) {
    const failure = problem ?? (await download(use, resolve(cwd, env["PARLEY_CACHE_DIR"] || ".cache")));
    if (failure === undefined) env[variable] = "embedded";
    const chosen = failure === undefined ? `embedded models ${use}, in English` : `${INSTEAD[use]}, because ${failure}`;
    progress(`${variable} is not set: ${chosen}`);
  }
}

/** Returns why the models could not be downloaded, or `undefined` once they are there. */
async function download(use: EmbeddedUse, cacheDir: string): Promise<string | undefined> {
  return prepareSpeech([use], cacheDir).then(
    () => undefined,
    // npm prints several lines. The first one names the problem.
    (error: unknown) => (error instanceof Error ? error.message : String(error)).split("\n", 1)[0],
  );
}
