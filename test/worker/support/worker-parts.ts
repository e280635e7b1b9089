import { RoomServiceClient } from "livekit-server-sdk";
import { type RunningMain, runMain, settingsFor } from "./run-main.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "../../../src/model-server/model-server.ts";
import { Participant } from "../../support/participant.ts";
import { type OwnLivekit, startOwnLivekit } from "../../support/servers/own-livekit.ts";
import { type TempDatabase, tempDatabase } from "../../support/servers/temp-database.ts";
import { tempFolder } from "../../support/temp-folder.ts";

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly args?: readonly string[];
  /** The address at which the worker reaches LiveKit. */
  readonly livekitUrl?: string;
}

interface StartOptions extends ModelServerOptions {
  /** Where LiveKit stores its rooms. @defaultValue in its own memory */
  readonly redisAddress?: string;
}

/** Separate instances of everything a worker needs, and the workers that a test runs with them. */
export class WorkerParts implements AsyncDisposable {
  readonly livekit: OwnLivekit;
  readonly database: TempDatabase;
  readonly model: ModelServer;
  readonly folder: string;
  readonly #cleanup: AsyncDisposableStack;

  private constructor(
    parts: Pick<WorkerParts, "livekit" | "database" | "model" | "folder">,
    cleanup: AsyncDisposableStack,
  ) {
    ({ livekit: this.livekit, database: this.database, model: this.model, folder: this.folder } = parts);
    this.#cleanup = cleanup;
  }

  static async start({ redisAddress, ...modelOptions }: StartOptions = {}): Promise<WorkerParts> {
    await using starting = new AsyncDisposableStack();
    const { path: folder } = starting.use(await tempFolder());
    const database = starting.use(await tempDatabase());
    const model = starting.use(await startModelServer(modelOptions));
    const livekit = await startOwnLivekit({ ...(redisAddress !== undefined && { redisAddress }) });
    starting.defer(() => livekit.close());
    return new WorkerParts({ livekit, database, model, folder }, starting.move());
  }

  /** Starts a worker, and resolves once it is ready. */
  async run({ env, args = [], livekitUrl = this.livekit.url }: RunOptions = {}): Promise<RunningMain> {
    const settings = await settingsFor({
      livekit: { ...this.livekit, url: livekitUrl },
      databaseUrl: this.database.url,
      modelUrl: this.model.url,
      folder: this.folder,
    });
    const main = runMain({ ...settings, ...env }, ...args);
    this.#cleanup.defer(async () => {
      main.kill("SIGTERM");
      await main.ended;
    });
    await main.ready;
    return main;
  }

  /** LiveKit's API for rooms. */
  get rooms(): RoomServiceClient {
    const { url, apiKey, apiSecret } = this.livekit;
    return new RoomServiceClient(url.replace(/^ws/u, "http"), apiKey, apiSecret);
  }

  async join(room: string, identity: string): Promise<Participant> {
    return this.#cleanup.use(await Participant.join(room, identity, { server: this.livekit }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup.disposeAsync();
  }
}
