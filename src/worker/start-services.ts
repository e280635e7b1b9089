import { AppError } from "../errors/app-error.ts";
import { prepareSpeech } from "../voice/providers/embedded/prepare-speech.ts";
import type { Config } from "./config.ts";
import type { Logger } from "./logger.ts";
import { hasModel } from "./settings/missing-settings.ts";
import { SCRIPTED_MODEL_NAME, startScriptedModel } from "./scripted/scripted-model.ts";
import { startPostgres } from "./services/embedded-postgres.ts";
import { startLivekitServer } from "./services/livekit-server.ts";
import { SpeechProcess } from "./services/speech-process.ts";
import type { ReportProgress, Service } from "./services/service.ts";
import { judgesTurnEnds } from "./settings/turn-ends.ts";

/** The addresses and keys of the services that a worker needs, whether `startServices` has started them or not. */
export interface Endpoints {
  readonly livekit: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  readonly databaseUrl: string;
  readonly model: { readonly name: string; readonly apiKey: string; readonly baseUrl: string | undefined };
  /** The socket of the speech process, if embedded models listen or speak. */
  readonly speechSocket?: string;
}

export interface StartOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly progress: ReportProgress;
  /**
   * Called with every service as soon as it runs, so that no service is left running if the start fails or is stopped.
   */
  readonly keep: (service: Service) => void;
  /** Called when a server that was started here has exited. */
  readonly onLost: (name: string) => void;
}

/** Starts all services that the environment does not configure, at the same time. */
export async function startServices(options: StartOptions): Promise<Endpoints> {
  const [livekit, databaseUrl, model, speechSocket] = await Promise.all([
    provideLivekit(options),
    provideDatabase(options),
    provideModel(options),
    provideSpeech(options),
  ]);
  return { livekit, databaseUrl, model, ...(speechSocket !== undefined && { speechSocket }) };
}

async function provideLivekit(options: StartOptions): Promise<Endpoints["livekit"]> {
  const { config, progress, keep, onLost } = options;
  const { livekitApiKey: apiKey, livekitApiSecret: apiSecret, dataDir, cacheDir } = config;
  const keys = apiKey !== undefined && apiSecret !== undefined ? { apiKey, apiSecret } : undefined;
  if (config.livekitUrl !== undefined) {
    if (keys === undefined) throw new AppError("invalid_config", "LIVEKIT_API_KEY: expected a value, got none");
    return { url: config.livekitUrl, ...keys };
  }
  const server = await startLivekitServer({
    dataDir,
    cacheDir,
    port: config.livekitPort,
    progress,
    ...(keys && { keys }),
  });
  keep(server);
  progress(`livekit-server is ready at ${server.url}`);
  void server.ended.then(() => onLost("livekit-server"));
  return { url: server.url, apiKey: server.apiKey, apiSecret: server.apiSecret };
}

async function provideDatabase({ config, progress, keep, onLost }: StartOptions): Promise<string> {
  if (config.databaseUrl !== undefined) return config.databaseUrl;
  const server = await startPostgres({ dataDir: config.dataDir, port: config.postgresPort, progress });
  keep(server);
  void server.ended.then(() => onLost("PostgreSQL"));
  return server.url;
}

async function provideModel({ config, progress, keep }: StartOptions): Promise<Endpoints["model"]> {
  if (hasModel(config)) {
    // The server at ANTHROPIC_BASE_URL may need no key, but Anthropic's SDK requires one.
    const apiKey = config.anthropicApiKey ?? "none";
    return { name: config.model.name, apiKey, baseUrl: config.anthropicBaseUrl };
  }
  const scripted = await startScriptedModel();
  keep(scripted);
  progress("************************************************************************************");
  progress("*  NO ANTHROPIC_API_KEY: a SCRIPTED MODEL answers, not Claude. It knows few phrases. *");
  progress("************************************************************************************");
  return { name: SCRIPTED_MODEL_NAME, apiKey: scripted.apiKey, baseUrl: scripted.url };
}

/** Returns the socket of the speech process, or `undefined` if the configuration uses no model of this machine. */
async function provideSpeech({ config, logger, keep }: StartOptions): Promise<string | undefined> {
  const { stt, tts } = config.speech;
  const uses = [
    ...(stt === "embedded" ? (["listen"] as const) : []),
    ...(tts === "embedded" ? (["speak"] as const) : []),
    ...(judgesTurnEnds(config) ? (["endOfTurn"] as const) : []),
  ];
  if (uses.length === 0) return undefined;
  const speech = await SpeechProcess.start({ folder: await prepareSpeech(uses, config.cacheDir), uses, logger });
  keep(speech);
  return speech.socket;
}
