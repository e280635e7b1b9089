import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { RoomEvent } from "@livekit/rtc-node";
import { expect, inject, test, vi } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { decodeEnvelope } from "../../src/protocol/codec/decode-envelope.ts";
import { startModelServer, type ModelServer } from "../../src/model-server/model-server.ts";
import { reply, slow, text, toolUse } from "../../src/model-server/step.ts";
import { createToken, Participant } from "../support/participant.ts";
import { TcpProxy } from "../support/servers/tcp-proxy.ts";
import { tempDatabase, type TempDatabase } from "../support/servers/temp-database.ts";
import type { WorkerProcessOptions } from "../support/processes/worker-process.ts";

const PROGRAM = fileURLToPath(new URL("../support/processes/worker-process.ts", import.meta.url));
const LEASE_MS = 1_000;
/** How long a test waits for anything that a thawed worker still sends. */
const AFTERWARDS_MS = 1_000;

class WorkerProcess implements Disposable {
  readonly identity: string;
  readonly model: ModelServer;
  readonly #process: ChildProcess;
  #output = "";

  private constructor(identity: string, model: ModelServer, child: ChildProcess) {
    this.identity = identity;
    this.model = model;
    this.#process = child;
    child.stdout?.on("data", (bytes: Buffer) => (this.#output += bytes.toString()));
  }

  static async start(roomName: string, databaseUrl: string): Promise<WorkerProcess> {
    const jobId = createId();
    const model = await startModelServer();
    const identity = `agent-${jobId}`;
    const options: WorkerProcessOptions = {
      roomName,
      jobId,
      token: await createToken(roomName, identity, { kind: "agent", canUpdateOwnMetadata: true }),
      livekit: {
        url: inject("livekitUrl"),
        apiKey: inject("livekitApiKey"),
        apiSecret: inject("livekitApiSecret"),
      },
      databaseUrl,
      modelUrl: model.url,
      leaseMs: LEASE_MS,
    };
    const stdio = ["pipe", "pipe", "inherit"] as const;
    return new WorkerProcess(
      identity,
      model,
      spawn(process.execPath, [PROGRAM, JSON.stringify(options)], { stdio: [...stdio] }),
    );
  }

  get runs(): number {
    return this.#output.split("\n").filter((line) => line === "ran").length;
  }

  async until(line: string): Promise<void> {
    await vi.waitUntil(async () => this.#output.includes(line), { timeout: 15_000 });
  }

  freeze(): void {
    this.#process.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process.kill("SIGCONT");
  }

  [Symbol.dispose](): void {
    this.#process.kill("SIGKILL");
    void this.model.close();
  }
}

/** A room with a worker that will freeze, one that takes over, and a participant that records who sends what. */
class FrozenTalk implements AsyncDisposable {
  readonly roomName = `room-${createId()}`;
  readonly database: TempDatabase;
  readonly proxy: TcpProxy;
  readonly frozen: WorkerProcess;
  readonly user: Participant;
  /** The times at which the worker that will freeze sent something. */
  readonly #said: number[] = [];
  readonly #stack: AsyncDisposableStack;

  private constructor(
    parts: Pick<FrozenTalk, "database" | "proxy" | "frozen" | "user" | "roomName">,
    stack: AsyncDisposableStack,
  ) {
    this.roomName = parts.roomName;
    this.database = parts.database;
    this.proxy = parts.proxy;
    this.frozen = parts.frozen;
    this.user = parts.user;
    this.#stack = stack;
    const { room } = this.user;
    const note = (by: string | undefined) => {
      if (by === this.frozen.identity) this.#said.push(performance.now());
    };
    room.on(RoomEvent.DataReceived, (bytes, sender) => {
      // A worker that has rejoined is announced late, so the sender may be unknown. The packet's number then identifies
      // it: only the first worker uses the first thousand of the session's numbers.
      const { stanzaId } = decodeEnvelope(bytes);
      note(sender?.identity ?? (stanzaId < 0 && stanzaId >= -1_000 ? this.frozen.identity : undefined));
    });
    room.registerTextStreamHandler("lk.transcription", (reader, { identity }) => {
      const read = async () => {
        for await (const _ of reader) note(identity);
      };
      note(identity);
      read().catch(() => {});
    });
  }

  static async begin(): Promise<FrozenTalk> {
    const stack = new AsyncDisposableStack();
    const roomName = `room-${createId()}`;
    const database = await tempDatabase();
    stack.defer(() => database.drop());
    const proxy = stack.use(await TcpProxy.start(database.url));
    const frozen = await WorkerProcess.start(roomName, proxy.url);
    stack.defer(() => frozen[Symbol.dispose]());
    await frozen.until("ready");
    const user = stack.use(await Participant.join(roomName, "user"));
    await user.configure({ tools: [] });
    return new FrozenTalk({ database, proxy, frozen, user, roomName }, stack);
  }

  /** Lets another worker take over the session, once the frozen worker's lease has expired. */
  async takeOver(script: Parameters<ModelServer["script"]>[0]): Promise<WorkerProcess> {
    const next = await WorkerProcess.start(this.roomName, this.database.url);
    this.#stack.defer(() => next[Symbol.dispose]());
    next.model.script(script);
    await next.until("ready");
    return next;
  }

  /**
   * Lets the frozen worker continue once the next worker has completed an answer. @returns the time at which it
   * continued
   */
  async thawOnceReplaced(): Promise<number> {
    const completed = () => this.database.sql`select from turns where state = 'completed'`;
    await vi.waitUntil(async () => (await completed()).length === 1, { timeout: 10_000 });
    const takenAt = performance.now();
    this.frozen.thaw();
    await this.frozen.until("left: another worker has the session");
    await sleep(AFTERWARDS_MS);
    return takenAt;
  }

  /** How many times the frozen worker has sent something since this moment. */
  saidSince(moment: number): number {
    return this.#said.filter((at) => at > moment).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.frozen.thaw();
    await this.#stack.disposeAsync();
  }
}

test("a worker that froze while it spoke says, writes and runs nothing once another owns its session", async () => {
  await using talk = await FrozenTalk.begin();
  const { frozen, user, database } = talk;
  const words = text("The old one says this. And this. And a great deal more of it, word by word by word.");
  frozen.model.script([reply([words, toolUse("act")], slow(40))]);
  const question = await user.say("Go on.");
  await user.next("assistant_sentence");

  frozen.freeze();
  const next = await talk.takeOver([reply([text("The new one answers.")])]);
  const takenAt = await talk.thawOnceReplaced();

  expect(talk.saidSince(takenAt)).toBe(0);
  expect([frozen.runs, next.runs]).toEqual([0, 0]);
  // An answer is stored after it is sent.
  const texts = () => database.sql<{ text_content: string }[]>`select text_content from turn_blocks`;
  await expect.poll(texts).toEqual([{ text_content: "The new one answers." }]);
  expect(await database.sql`select from tool_calls`).toEqual([]);
  expect(await user.answerTo(question)).toContain("The new one answers.");
});

test("a worker that froze between storing a call and starting it does not start it", async () => {
  await using talk = await FrozenTalk.begin();
  const { frozen, user, database, proxy } = talk;
  frozen.model.script([reply([toolUse("act")])]);
  proxy.delayMs = 400;
  await user.say("Act.");
  const running = () => database.sql`select from tool_calls where state = 'running'`;
  while ((await running()).length === 0) await sleep(5);

  // The call is stored as running, but the database's response to that write has not reached the worker yet.
  frozen.freeze();
  proxy.delayMs = 0;
  const next = await talk.takeOver([reply([text("Nobody knows.")])]);
  const takenAt = await talk.thawOnceReplaced();

  expect([frozen.runs, next.runs]).toEqual([0, 0]);
  expect(talk.saidSince(takenAt)).toBe(0);
  expect(await database.sql`select state, error_code from tool_calls`).toEqual([
    { state: "error", error_code: "outcome_unknown" },
  ]);
});

test("a message to a frozen worker is answered by the one that owns the session, once", async () => {
  await using talk = await FrozenTalk.begin();
  const { frozen, user, database } = talk;
  frozen.model.script(() => reply([text("The old one answers.")]));

  frozen.freeze();
  await talk.takeOver([reply([text("The new one answers.")])]);
  const takenAt = performance.now();
  const question = await user.say("Anybody there?");
  frozen.thaw();
  await frozen.until("left: another worker has the session");
  await sleep(AFTERWARDS_MS);

  expect(talk.saidSince(takenAt)).toBe(0);
  expect(await user.answerTo(question)).toBe("The new one answers.");
  expect(await database.sql`select text_content from turn_blocks`).toEqual([{ text_content: "The new one answers." }]);
});

test("a worker that froze for a moment, and still owns its session, continues where it was", async () => {
  await using talk = await FrozenTalk.begin();
  const { frozen, user } = talk;
  frozen.model.script([reply([text("One. Two. Three.")], slow(40))]);
  const question = await user.say("Count.");

  frozen.freeze();
  await sleep(LEASE_MS + 500);
  frozen.thaw();

  expect(await user.answerTo(question)).toBe("One. Two. Three.");
});
