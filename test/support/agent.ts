import { setTimeout as sleep } from "node:timers/promises";
import { Room } from "@livekit/rtc-node";
import { RoomServiceClient } from "livekit-server-sdk";
import { pino, type Logger } from "pino";
import { inject } from "vitest";
import { createId } from "../../src/lib/id.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import { createModel } from "../../src/llm/stream-message.ts";
import { createSummaryModel } from "../../src/session/context/summarizer.ts";
import { betasOf, INLINE_TOOLS } from "../../src/session/model/open-stream.ts";
import { agentSchema } from "../../src/agent/agent-fields.ts";
import { hooksOf } from "../../src/agent/hooks.ts";
import type { AgentDefinition } from "../../src/agent/define-agent.ts";
import { DEFAULT_AGENT } from "../../src/agent/load-agents.ts";
import { connect, type Sql } from "../../src/store/database/pool.ts";
import type { Telemetry } from "../../src/telemetry/telemetry.ts";
import type { Tool } from "../../src/tool/define-tool.ts";
import { type LiveTools, type ServerTool, toServerTool } from "../../src/tool/server-tool.ts";
import type { Speech } from "../../src/voice/providers/speech-choice.ts";
import { type VoiceSettings, voiceSchema } from "../../src/voice/voice-settings.ts";
import type { ConfigFileValues } from "../../src/worker/config-file.ts";
import { type ModelPlace, serveAgent } from "../../src/worker/job/serve-agents.ts";
import type { JobSession } from "../../src/worker/job/job-session.ts";
import { openJobSession } from "../../src/worker/job/open-job-session.ts";
import type { SessionPolicy } from "../../src/session/session-policy.ts";
import { createToken, Participant } from "./participant.ts";
import { startModelServer, type ModelServer } from "../../src/model-server/model-server.ts";
import { TcpProxy } from "./servers/tcp-proxy.ts";
import { tempDatabase } from "./servers/temp-database.ts";
import { jobConfig } from "./job-config.ts";
import { openPermissionEvents } from "./permission-events.ts";

export interface AgentOptions {
  /** @defaultValue a new name */
  readonly roomName?: string;
  readonly tools?: Readonly<Record<string, Tool>>;
  /** The server tools to use instead of `tools`. The map may change while the session runs. */
  readonly liveTools?: ReadonlyMap<string, ServerTool>;
  /** Reports changes to `liveTools`. */
  readonly toolNews?: LiveTools;
  readonly policy?: Partial<SessionPolicy>;
  /** Whether the agent remembers what participants ask it to. @defaultValue false */
  readonly memory?: boolean;
  /** Whether a later room of the same name continues the conversation. @defaultValue true */
  readonly continueConversation?: ConfigFileValues["continueConversation"];
  /** Settings for Anthropic's context editing. @defaultValue none */
  readonly edits?: ConfigFileValues["context"]["edits"];
  readonly modelIdleTimeoutMs?: number;
  /** The model that writes notes on older turns. @defaultValue no notes are written */
  readonly summaryModel?: string;
  /** The agent's definition, as parley.config.ts would contain it. */
  readonly agent?: Partial<AgentDefinition>;
  /** The other agents, by name. */
  readonly agents?: Readonly<Record<string, AgentDefinition>>;
  /** The dispatch's metadata. */
  readonly metadata?: string;
  /** Whether the session's start and end are stored, and its hooks called. @defaultValue only with `agents` */
  readonly hasHooks?: boolean;
  /** Whether a webhook reports the session's end. */
  readonly hasEndWebhook?: boolean;
  /** Anthropic's own tools to enable. */
  readonly serverTools?: readonly JsonObject[];
  readonly effort?: "low";
  /** The address of a model to use instead of our strict model server. */
  readonly modelUrl?: string;
  readonly retryBudgetMs?: number;
  /** Speech recognition and a voice; see voice-agent.ts. */
  readonly speech?: { readonly engines: Speech; readonly settings: VoiceSettings };
  /** Where spans and measurements are sent. */
  readonly telemetry?: Telemetry;
  /** @defaultValue silent, unless `LOG_LEVEL` is set */
  readonly logger?: Logger;
  /** Whether a proxy sits between the session and its database, so that a test can slow or cut the connection. */
  readonly hasDatabaseProxy?: boolean;
  /** The database of another agent, so that both act as workers of one installation. */
  readonly databaseUrl?: string;
  /** The lifetime of the agent's own token. */
  readonly tokenTtlSeconds?: number;
  /**
   * Called with each room object before it is used, so that a test can put something between the room and the session.
   */
  readonly prepareRoom?: (room: Room) => void;
}

interface CallRow {
  readonly name: string;
  readonly state: string;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly result: unknown;
  readonly execution_resolved: string | null;
  readonly extra_answers: readonly { readonly kind: string }[];
}

/** A worker's session in a real room with a real database. Only the model is simulated. */
export class TestAgent implements AsyncDisposable {
  readonly roomName: string;
  readonly model: ModelServer;
  readonly sql: Sql;
  readonly databaseUrl: string;
  /** The proxy in front of the session's database. Only set with `hasDatabaseProxy`. */
  database: TcpProxy | undefined;
  readonly #options: AgentOptions;
  readonly #cleanup: AsyncDisposableStack;
  #leave: (() => Promise<void>) | undefined;
  #session: JobSession | undefined;
  #room = new Room();

  private constructor(
    options: AgentOptions,
    model: ModelServer,
    cleanup: AsyncDisposableStack & { databaseUrl: string },
  ) {
    this.roomName = options.roomName ?? `room-${createId()}`;
    this.#options = options;
    this.model = model;
    this.databaseUrl = cleanup.databaseUrl;
    this.sql = connect(cleanup.databaseUrl, { maxConnections: 2 });
    this.#cleanup = cleanup;
    cleanup.defer(async () => this.sql.end());
  }

  static async start(options: AgentOptions = {}): Promise<TestAgent> {
    const cleanup = new AsyncDisposableStack();
    const ofAnother =
      options.databaseUrl === undefined ? undefined : { url: options.databaseUrl, drop: async () => {} };
    const [model, database] = await Promise.all([startModelServer(), ofAnother ?? tempDatabase()]);
    cleanup.defer(() => database.drop());
    cleanup.defer(() => model.close());
    const agent = new TestAgent(options, model, Object.assign(cleanup, { databaseUrl: database.url }));
    if (options.hasDatabaseProxy === true) {
      const proxy = await TcpProxy.start(database.url);
      cleanup.defer(() => proxy[Symbol.asyncDispose]());
      agent.database = proxy;
    }
    await agent.join();
    return agent;
  }

  /** The room as the agent sees it. */
  get room(): Room {
    return this.#room;
  }

  #rooms(): RoomServiceClient {
    return new RoomServiceClient(inject("livekitUrl"), inject("livekitApiKey"), inject("livekitApiSecret"));
  }

  /**
   * Opens the session as a job process does. After `leave`, simulates a new worker in the same room.
   *
   * @param job `metadata` is the metadata of the dispatch that creates this job. @defaultValue the metadata passed to
   * `start`
   */
  async join({ metadata = this.#options.metadata }: Pick<AgentOptions, "metadata"> = {}): Promise<void> {
    const { tools = {}, policy = {}, summaryModel, modelIdleTimeoutMs = 5_000, retryBudgetMs = 10_000 } = this.#options;
    const { edits = [] } = this.#options;
    const room = new Room();
    this.#options.prepareRoom?.(room);
    this.#room = room;
    const sql = connect(this.database?.url ?? this.databaseUrl);
    const clientAt = ({ baseUrl = this.#options.modelUrl ?? this.model.url }: ModelPlace) =>
      createModel({
        apiKey: "test",
        baseUrl,
        idleTimeoutMs: modelIdleTimeoutMs,
        retryBudgetMs,
        betas: [...(policy.context?.inlineTools === true ? [INLINE_TOOLS] : []), ...betasOf(edits)],
      });
    const model = clientAt({});
    const { agent = {}, agents = {}, serverTools = [], effort } = this.#options;
    const base = { name: "claude-test", maxTokens: 1_024, serverTools: [...serverTools] as never[] };
    const serving = {
      client: model,
      clientAt,
      model: { ...base, ...(effort && { effort }) },
      inlineTools: policy.context?.inlineTools ?? false,
      edits,
    };
    const serve = (name: string, definition: AgentDefinition) =>
      serveAgent(name, agentSchema.parse(definition), serving);
    const defaultAgent = serve(DEFAULT_AGENT, { instructions: "Be brief.", ...agent });
    const named = Object.entries(agents).map(([name, definition]) => serve(name, definition));
    // Sessions with hooks need the room's id, which LiveKit passes to a real job.
    const { hasHooks = this.#options.agents !== undefined, hasEndWebhook = false } = this.#options;
    // Makes the room end soon after everybody has left.
    const asked = { name: this.roomName, ...(this.#options.hasHooks && { departureTimeout: 2 }) };
    const sid = hasHooks ? (await this.#rooms().createRoom(asked)).sid : undefined;
    const jobId = createId();
    const job = {
      name: this.roomName,
      jobId,
      room,
      sid,
      ...(metadata !== undefined && { metadata }),
      connect: async () => {
        const { tokenTtlSeconds: ttlSeconds } = this.#options;
        const token = await createToken(this.roomName, `agent-${jobId}`, {
          kind: "agent",
          canUpdateOwnMetadata: true,
          ...(ttlSeconds !== undefined && { ttlSeconds }),
        });
        await room.connect(inject("livekitUrl"), token, { autoSubscribe: false, dynacast: false });
      },
      leave: () => {},
      url: inject("livekitUrl"),
      apiKey: inject("livekitApiKey"),
      apiSecret: inject("livekitApiSecret"),
    };
    const permissionEvents = openPermissionEvents(this.database?.url ?? this.databaseUrl, sql);
    const session = await openJobSession(job, {
      config: jobConfig({
        model: { name: "claude-test" },
        voice: this.#options.speech?.settings ?? voiceSchema.parse({}),
        ...policy,
        memory: this.#options.memory ?? false,
        continueConversation: this.#options.continueConversation ?? true,
      }),
      speech: this.#options.speech?.engines,
      logger: this.#options.logger ?? pino({ level: process.env["LOG_LEVEL"] ?? "silent" }),
      ...(this.#options.telemetry && { telemetry: this.#options.telemetry }),
      sql,
      permissionEvents,
      serverTools:
        this.#options.liveTools ??
        new Map(Object.entries(tools).map(([name, tool]) => [name, toServerTool(name, tool, undefined)])),
      liveTools: this.#options.toolNews ?? { prefixes: [], onChanged: () => () => {} },
      agents: new Map([...named, defaultAgent].map((each) => [each.name, each])),
      defaultAgent,
      hooksOf: (name) => hooksOf(agent, agents[name]),
      hasEndWebhook,
      ...(summaryModel !== undefined && { summaryModel: createSummaryModel(model, summaryModel) }),
    });
    this.#session = session;
    this.#leave = async () => {
      await session.close(0);
      await room.disconnect();
      await permissionEvents.close();
      await sql.end({ timeout: 1 });
    };
  }

  /** Deletes the room and ends the session, as a job does when its room is deleted. */
  async deleteRoom(): Promise<void> {
    await this.#rooms().deleteRoom(this.roomName);
    await this.ended();
  }

  /** Waits until the room has ended, and then ends the session. */
  async ended(): Promise<void> {
    while (this.#room.isConnected) await sleep(10);
    await this.leave();
  }

  async leave(): Promise<void> {
    await this.#leave?.();
    this.#leave = undefined;
  }

  /** Leaves the session to the next worker, without ending the running turn. */
  async abandon(): Promise<void> {
    await this.#session?.handOver({ withinMs: 0 });
    await this.leave();
  }

  /** A client in the agent's room that has sent its Configuration. */
  async client(
    identity: string,
    configuration: Parameters<Participant["configure"]>[0] = {},
    options: Parameters<typeof Participant.join>[2] = {},
  ): Promise<Participant> {
    const participant = await Participant.join(this.roomName, identity, options);
    this.#cleanup.defer(() => participant.leave());
    await participant.configure(configuration);
    return participant;
  }

  blocks() {
    return this.sql<
      {
        turn: number;
        sequence: number;
        block_type: string;
        text_content: string | null;
        content: Record<string, unknown> | null;
      }[]
    >`
      select position as turn, sequence, block_type, text_content, content
      from turn_blocks join turns on turns.id = turn_id order by position, sequence`;
  }

  /**
   * The calls, in the order in which the model requested them. Waits up to 2 s while a call is stored as running,
   * because the end of a call is stored with a delay.
   */
  async calls(): Promise<readonly CallRow[]> {
    const giveUpAt = performance.now() + 2_000;
    for (;;) {
      const rows = await this.sql<CallRow[]>`
        select name, tool_calls.state, tool_calls.error_code, tool_calls.error_message, result, execution_resolved,
          extra_answers
        from tool_calls
        join turns on turns.id = tool_calls.turn_id
        left join turn_blocks on turn_blocks.turn_id = tool_calls.turn_id
          and block_type = 'tool_use' and content ->> 'tool_use_id' = tool_use_id
        order by position, sequence, tool_calls.created_at
      `;
      if (rows.every(({ state }) => state !== "running") || performance.now() > giveUpAt) return rows;
      await sleep(10);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
    await this.#cleanup.disposeAsync();
  }
}
