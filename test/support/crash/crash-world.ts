import { pino } from "pino";
import { z } from "zod";
import { AppError } from "../../../src/errors/app-error.ts";
import { createId } from "../../../src/lib/id.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { ASK_USER, ASK_USER_SCHEMA } from "../../../src/protocol/forms/form.ts";
import { openSession } from "../../../src/session/open-session.ts";
import type { RoomLink } from "../../../src/session/room/room-link.ts";
import type { Session } from "../../../src/session/session.ts";
import type { Sql } from "../../../src/store/database/pool.ts";
import { replyToPermission } from "../../../src/store/permissions/reply-to-permission.ts";
import { defineTool, type ToolContext } from "../../../src/tool/define-tool.ts";
import { toServerTool } from "../../../src/tool/server-tool.ts";
import { createRandom } from "../doubles/fake-room.ts";
import type { VirtualClock } from "../virtual-clock.ts";
import { CrashClient } from "./crash-client.ts";
import { think, toMessage, verdictOf, type PlannedUse } from "./crash-model.ts";
import { eventsHere, notifyListeners } from "./listeners.ts";
import { DyingWorker, type Failure, never, type Traffic } from "./dying-worker.ts";

const TIMEOUT_MS = 3_000;
const HORIZON_MS = 150_000;
const PERMISSION_WAIT_MS = 20_000;
const LEASE_MS = 15_000;

/** The tools of the world: where each runs, whether it may run twice, and whether somebody has to allow it. */
export const TOOLS = {
  act: { on: "server", isIdempotent: false, needs: "nothing" },
  look: { on: "server", isIdempotent: true, needs: "nothing" },
  redo: { on: "server", isIdempotent: true, needs: "nothing" },
  bake: { on: "server", isIdempotent: false, needs: "nothing" },
  rebake: { on: "server", isIdempotent: true, needs: "nothing" },
  sign: { on: "server", isIdempotent: false, needs: "leave" },
  resign: { on: "server", isIdempotent: true, needs: "leave" },
  forbid: { on: "server", isIdempotent: true, needs: "a miracle" },
  both: { on: "either", isIdempotent: false, needs: "nothing" },
  again: { on: "either", isIdempotent: true, needs: "nothing" },
  seal: { on: "phone", isIdempotent: false, needs: "leave" },
  scan: { on: "laptop", isIdempotent: false, needs: "nothing" },
  show: { on: "phone", isIdempotent: false, needs: "nothing" },
  shred: { on: "laptop", isIdempotent: false, needs: "a miracle" },
  poll: { on: "server", isIdempotent: false, needs: "nothing" },
  repoll: { on: "server", isIdempotent: true, needs: "nothing" },
} as const;
export type ToolName = keyof typeof TOOLS;

export interface Scenario {
  readonly seed: number;
  /**
   * After how many effects each worker dies. When the last of these workers has died, one more continues to the end.
   */
  readonly deaths: readonly number[];
  /** How long after the takeover a worker wakes up, if it freezes instead of dying; otherwise undefined. */
  readonly wakesAfterMs: readonly (number | undefined)[];
  /** Statements that fail, by their number, counted over all workers. */
  readonly failures: readonly (readonly [statement: number, how: Failure])[];
  readonly messages: readonly (readonly (readonly PlannedUse[])[])[];
  readonly gapMs: number;
  readonly onNewMessage: "queue" | "interrupt";
  readonly stopsAt: number | undefined;
  readonly phoneNamesTools: boolean;
}

interface ToolRun {
  readonly callId: string;
  readonly toolName: string;
  readonly by: string;
  readonly input: JsonObject;
  readonly wasAllowed: boolean;
}

const INPUT = z.object({ n: z.number() });
/** The form that `poll` and `repoll` ask the phone's owner to fill in. The owner may also refuse, or not answer. */
const FORM = {
  message: "How many?",
  schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
};
const announce = (name: ToolName) => ({
  name,
  description: "D.",
  inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  scope: "room" as const,
  timeoutMs: TIMEOUT_MS,
});

/** A room with two devices, a model, a real database, and workers that die one after another. */
export class CrashWorld {
  readonly conversationId = createId();
  readonly clock: VirtualClock;
  readonly random: () => number;
  readonly runs: ToolRun[] = [];
  readonly asked: { readonly callId: string; readonly identity: string }[] = [];
  readonly approved = new Set<string>();
  /** The answers that the phone has seen start, each with the id of the message it answers. */
  readonly started = new Map<string, string>();
  readonly verdicts: string[] = [];
  readonly phone: CrashClient;
  workers = 0;
  stoodStill = 0;
  readonly #scenario: Scenario;
  readonly #sql: Sql;
  readonly #traffic: Traffic;
  readonly #clients: readonly CrashClient[];
  #session: Session | undefined;
  /** The workers' warnings, for debugging a broken promise. */
  readonly #warnings: string[] = [];
  readonly #everySession = new Map<DyingWorker, Session>();

  constructor(sql: Sql, scenario: Scenario, { clock, traffic }: { clock: VirtualClock; traffic: Traffic }) {
    this.#sql = sql;
    this.#scenario = scenario;
    this.#traffic = traffic;
    this.clock = clock;
    this.random = createRandom(scenario.seed);
    const form = { name: ASK_USER, description: "D.", inputSchema: { ...ASK_USER_SCHEMA }, timeoutMs: TIMEOUT_MS };
    const ofPhone = [...(["show", "seal", "both", "again"] as const).map(announce), form];
    this.phone = new CrashClient(this, "phone", scenario.phoneNamesTools ? ofPhone : undefined);
    this.#clients = [this.phone, new CrashClient(this, "laptop", [announce("scan"), announce("shred")])];
  }

  /** Plays the scenario to its end. */
  async play(): Promise<void> {
    const { messages, gapMs, stopsAt } = this.#scenario;
    void this.#open();
    for (const [index, steps] of messages.entries())
      this.clock.after(1_500 + index * gapMs, () => this.phone.say(toMessage(steps)));
    if (stopsAt !== undefined) this.clock.after(stopsAt, () => this.phone.send({ type: "control_stop", body: {} }));
    await this.clock.run(HORIZON_MS);
  }

  /** For debugging a broken promise: how far the workers got, and which of them owns the session. */
  async describeEnd(): Promise<string> {
    const { conversationId, workers } = this;
    const sessions = await this.#sql`select * from sessions where conversation_id = ${conversationId}`;
    const states = [...this.#everySession.keys()].map(({ number, state }) => `${number} ${state}`);
    return JSON.stringify({
      workers,
      opened: states,
      isServed: this.#session !== undefined,
      sessions,
      warnings: this.#warnings,
    });
  }

  /** Delivers a packet to everyone in the room: the current worker, and those that were frozen. */
  deliver(from: CrashClient, bytes: Uint8Array): void {
    this.#session?.handle({ type: "packet", from: from.participant, bytes });
    for (const [{ state }, session] of this.#everySession)
      if (state === "awake again" && session !== this.#session)
        session.handle({ type: "packet", from: from.participant, bytes });
  }

  note(run: Omit<ToolRun, "wasAllowed">): void {
    this.runs.push({ ...run, wasAllowed: this.approved.has(run.callId) });
  }

  async replyByHttp(permissionId: string, by: string, response: "once" | "reject"): Promise<void> {
    const decision =
      response === "once" ? ({ kind: "approve", isAlways: false } as const) : ({ kind: "reject" } as const);
    const sessions = this.#sql<
      { id: string }[]
    >`select id from sessions where conversation_id = ${this.conversationId}`;
    const [session] = await this.#traffic.through(sessions);
    const reply = { permissionId, sessionId: session?.id ?? "", by, via: "http", decision } as const;
    await this.#traffic.through(replyToPermission(this.#sql, reply));
    notifyListeners(this.conversationId, session?.id ?? "", permissionId);
  }

  async #open(): Promise<void> {
    const number = ++this.workers;
    const worker = new DyingWorker(number, {
      // The first worker dies four effects later, because it has nothing to resume.
      effects: (this.#scenario.deaths[number - 1] ?? Number.POSITIVE_INFINITY) + (number === 1 ? 4 : 0),
      onGone: () => {
        this.#session = undefined;
        const wakesAfterMs = this.#scenario.wakesAfterMs[number - 1];
        // Nobody notices a frozen worker before its lease has expired.
        const takenAfterMs = (wakesAfterMs === undefined ? 0 : LEASE_MS) + this.random() * 3_000;
        this.clock.after(takenAfterMs, () => void this.#takeOver());
        if (wakesAfterMs === undefined) return;
        this.stoodStill += 1;
        this.clock.after(takenAfterMs + wakesAfterMs, () => worker.wake());
      },
    });
    const { onNewMessage } = this.#scenario;
    const rules = ["forbid", "shred"].map((pattern) => ({ type: "tool", pattern, action: "deny" }) as const);
    const opening = openSession({
      sql: worker.sql(this.#sql, this.#traffic),
      permissionEvents: eventsHere(this.conversationId),
      leaseMs: LEASE_MS,
      conversationId: this.conversationId,
      room: this.conversationId,
      owner: `worker-${number}`,
      link: this.#link(worker),
      watchers: [],
      silence: async () => {},
      onLost: () => {},
      serverTools: this.#serverTools(worker),
      openStream: (request, signal) => this.#think(worker, request, signal),
      policy: {
        model: "m",
        maxSteps: 10,
        toolTimeoutMs: TIMEOUT_MS,
        toolResultMaxBytes: 100_000,
        onNewMessage,
        permission: { rules, byVoice: false, waitMs: PERMISSION_WAIT_MS },
        context: { budgetTokens: 30_000, hardTokens: 120_000, instructionBytes: 0 },
      },
      logger: pino({ level: "warn", base: { worker: number } }, { write: (line) => void this.#warnings.push(line) }),
    });
    const opened = await opening.catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error;
      // A worker that froze while opening its session may have lost the session by then.
      const isLost = error.code === "lost_lease" && worker.state === "awake again";
      if (!isLost && error.code !== "unavailable") throw error;
      worker.end();
    });
    if (!opened) return;
    const { session } = opened;
    this.#everySession.set(worker, session);
    if (!worker.isAlive) return;
    // A worker that froze while opening its session is in the room together with the current worker.
    if (worker.state === "alive") this.#session = session;
    for (const client of this.#clients) {
      session.handle({ type: "joined", participant: client.participant });
      this.clock.after(this.random() * 900, () => client.configure());
    }
  }

  async #takeOver(): Promise<void> {
    const { conversationId } = this;
    await this.#traffic.through(
      this.#sql`update sessions set lease_owner = null where conversation_id = ${conversationId}`,
    );
    await this.#open();
  }

  /**
   * Records a fault if a worker that was frozen acts although another worker has claimed its session. The n-th worker
   * made the n-th claim, so a higher epoch is the claim of a later worker.
   */
  async #mayAct(worker: DyingWorker, what: string): Promise<void> {
    if (worker.state !== "awake again") return;
    const { conversationId } = this;
    const sessions = this.#sql<
      { epoch: string }[]
    >`select epoch from sessions where conversation_id = ${conversationId}`;
    const [session] = await this.#traffic.through(sessions);
    if (Number(session?.epoch) > worker.number) this.verdicts.push(`a worker that had lost its session ${what}`);
  }

  #link(worker: DyingWorker): RoomLink {
    const publish = async (bytes: Uint8Array, to: readonly string[] | undefined) => {
      if (!worker.isAlive) return never<void>();
      await this.#mayAct(worker, "said something");
      for (const client of this.#clients)
        if (!to || to.includes(client.identity)) this.clock.after(this.random() * 40, () => client.receive(bytes));
      await worker.effect();
    };
    const openTranscription = async () => ({ write: async () => {}, close: async () => {} });
    const workers = () => this.workers;
    return {
      publish,
      openTranscription,
      // From the second worker on, the agent of another worker is in the room, too.
      get otherAgents() {
        return workers() > 1 ? ["other"] : [];
      },
      keepsSession: () => false,
    } as unknown as RoomLink;
  }

  async *#think(worker: DyingWorker, request: Parameters<typeof think>[0], signal: AbortSignal) {
    await worker.untilAwake();
    const verdict = verdictOf(request);
    if (verdict !== undefined) this.verdicts.push(verdict);
    await worker.effect();
    yield* think(request, signal, async () => {
      await new Promise((resolve) => setTimeout(resolve, this.random() * 60));
      await worker.untilAwake();
    });
  }

  #serverTools(worker: DyingWorker) {
    const run = async (toolName: string, input: JsonObject, { callId, elicit, session }: ToolContext) => {
      if (!worker.isAlive) return never();
      await this.#mayAct(worker, `ran ${toolName}`);
      this.note({ callId, toolName, by: "server", input });
      await worker.effect();
      await new Promise((resolve) => setTimeout(resolve, this.random() * 2_000));
      const filled = toolName.endsWith("poll") ? await elicit(FORM) : {};
      await worker.untilAwake();
      session.update((state: JsonObject) => ({ ...state, [callId]: Number(state[callId] ?? 0) + 1, last: callId }));
      return { by: "server", id: callId, ...filled };
    };
    const define = (name: ToolName) => {
      const { on, isIdempotent, needs } = TOOLS[name];
      const common = {
        description: "D.",
        input: INPUT,
        timeoutMs: TIMEOUT_MS,
        idempotent: isIdempotent,
        background: name.endsWith("bake"),
        ...(name === "look" && { readOnly: true }),
        ...(needs === "leave" && { permission: { type: name, pattern: () => "it", title: () => "Do it" } }),
      };
      const tool =
        on === "server" || on === "either"
          ? defineTool({ ...common, execution: on, run: (input, context) => run(name, { ...input }, context) })
          : defineTool({ ...common, execution: "client" });
      return [name, toServerTool(name, tool, undefined)] as const;
    };
    const own = (Object.keys(TOOLS) as ToolName[]).filter((name) => !["scan", "show", "shred"].includes(name));
    return new Map(own.map(define));
  }
}
