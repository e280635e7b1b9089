import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decode, encode } from "@msgpack/msgpack";
import { RoomEvent } from "@livekit/rtc-node";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { pino } from "pino";
import { z } from "zod";
import { createHttpServer } from "../../src/http/http-server.ts";
import { createId } from "../../src/lib/id.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import { TestAgent } from "../support/agent.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { createToken, Participant } from "../support/participant.ts";
import { pythonForFile, startPython } from "../support/python.ts";

const CLIENT = join(import.meta.dirname, "../../examples/python-client/client.py");

interface Envelope {
  readonly stanzaId: number;
  readonly type: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const python = pythonForFile();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-python-"));
  await writeFile(join(folder, "notes.txt"), "Milk");
  await writeFile(join(folder, "big.txt"), "x".repeat(100_000));
});

afterAll(async () => rm(folder, { recursive: true, force: true }));

/** Starts the client as a separate process, in the agent's room. */
async function startClient(agent: { readonly roomName: string }, ...args: readonly string[]) {
  const token = await createToken(agent.roomName, "python");
  return spawnClient(["--url", inject("livekitUrl"), "--token", token, ...args]);
}

function spawnClient(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return startPython(python(), { args: [CLIENT, "--folder", folder, "--timeout", "15", ...args], env });
}

const say = async (agent: TestAgent, content: string, ...args: readonly string[]) =>
  (await startClient(agent, "--say", content, ...args)).ended;

const input = z.object({ filePath: z.string() });

const errors = (agent: TestAgent) =>
  agent.sql<{ error_code: string; error_message: string }[]>`
    select error_code, error_message from tool_calls order by error_message`;

test("without a worker it says so in one line", async () => {
  const { ended } = spawnClient(["--worker", "http://127.0.0.1:1", "--say", "Go"]);

  expect(await ended).toEqual({
    code: 1,
    stdout: [],
    stderr: ["no worker at http://127.0.0.1:1: start one with npm start, or pass the address of another"],
  });
});

test("a turn with the client's tool", async () => {
  await using agent = await TestAgent.start();
  agent.model.script([reply([toolUse("read_local_file", { filePath: "notes.txt" })]), reply([text("It says milk.")])]);
  expect(await say(agent, "Read my notes")).toMatchObject({ code: 0, stdout: ["It says milk."] });
  expect(await agent.calls()).toMatchObject([
    { state: "success", execution_resolved: "client", result: { content: "Milk", size: 4 }, extra_answers: [] },
  ]);
  expect(agent.model.rejections).toEqual([]);
});

test("a token from the worker's HTTP server", async () => {
  await using agent = await TestAgent.start();
  const secret = "a-secret-of-the-operator";
  const [url, apiKey, apiSecret] = [inject("livekitUrl"), inject("livekitApiKey"), inject("livekitApiSecret")];
  const http = createHttpServer({
    logger: pino({ enabled: false }),
    livekit: { url, apiKey, apiSecret },
    publicUrl: url,
    checks: [],
    token: { isOpen: false, secret },
  });
  onTestFinished(() => http.close());
  const worker = await http.listen({ host: "127.0.0.1", port: 0 });
  agent.model.script([reply([text("Hello.")])]);
  const args = ["--worker", worker, "--room", agent.roomName, "--say", "Hello"];
  expect(await spawnClient(args, { TOKEN_SECRET: secret }).ended).toMatchObject({ code: 0, stdout: ["Hello."] });
});

test("tools that fail", async () => {
  await using agent = await TestAgent.start();
  const paths = ["none.txt", "../../etc/passwd"];
  agent.model.script([
    reply(paths.map((filePath) => toolUse("read_local_file", { filePath }))),
    reply([text("Neither.")]),
  ]);
  expect(await say(agent, "Read both")).toMatchObject({ code: 0, stdout: ["Neither."] });
  expect(await errors(agent)).toEqual([
    { error_code: "execution_error", error_message: "../../etc/passwd is outside of the shared folder" },
    { error_code: "execution_error", error_message: "File not found: none.txt" },
  ]);
});

test("a tool that the client does not have, and parameters that it refuses", async () => {
  const loose = defineTool({ description: "L.", input: z.object({}), execution: "client" });
  await using agent = await TestAgent.start({ tools: { scan: loose, read_local_file: loose } });
  agent.model.script([reply([toolUse("scan"), toolUse("read_local_file")]), reply([text("You cannot.")])]);
  expect(await say(agent, "Scan", "--no-announce")).toMatchObject({ code: 0, stdout: ["You cannot."] });
  expect(await errors(agent)).toEqual([
    { error_code: "invalid_parameters", error_message: 'Invalid parameter "filePath": Field required' },
    { error_code: "unknown_tool", error_message: "Tool 'scan' is not supported by this client" },
  ]);
});

test("a slow tool times out on the client, before the worker's own deadline", async () => {
  await using agent = await TestAgent.start();
  agent.model.script([reply([toolUse("wait_for_local_file", { filePath: "never" })]), reply([text("Too slow.")])]);
  expect(await say(agent, "Wait")).toMatchObject({ code: 0, stdout: ["Too slow."] });
  expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "timeout", extra_answers: [] }]);
  // This is the error that is stored. For a timeout, the model is shown another text, which is the worker's own.
  expect(await errors(agent)).toEqual([
    { error_code: "timeout", error_message: "Tool execution exceeded timeout of 1000ms" },
  ]);
});

test("an `either` request is claimed or declined, and the server's tools are shown but not run", async () => {
  const serverRuns: string[] = [];
  const toolOf = (name: string, execution: "either" | "server") =>
    defineTool({ description: "E.", input, execution, run: () => void serverRuns.push(name) });
  await using agent = await TestAgent.start({
    tools: {
      read_local_file: toolOf("read_local_file", "either"),
      look_up: toolOf("look_up", "either"),
      wait_for_local_file: toolOf("wait_for_local_file", "server"),
    },
  });
  const names = ["read_local_file", "look_up", "wait_for_local_file"];
  agent.model.script([
    reply(names.map((name) => toolUse(name, { filePath: "notes.txt" }))),
    reply([text("All three.")]),
  ]);
  const { code, stdout, stderr } = await say(agent, "All", "--no-announce");
  expect({ code, stdout }).toEqual({ code: 0, stdout: ["All three."] });
  expect(stderr).toContain("[the server runs wait_for_local_file]");
  expect(serverRuns.toSorted()).toEqual(["look_up", "wait_for_local_file"]);
  const calls = new Map((await agent.calls()).map((call) => [call.name, call]));
  expect(calls.get("read_local_file")).toMatchObject({ execution_resolved: "client", result: { content: "Milk" } });
  expect(calls.get("look_up")).toMatchObject({ state: "success", execution_resolved: "server", extra_answers: [] });
  expect(calls.get("wait_for_local_file")).toMatchObject({ state: "success", extra_answers: [] });
});

test("a result of 100 kB is sent as a byte stream", async () => {
  await using agent = await TestAgent.start({ policy: { toolResultMaxBytes: 200_000 } });
  agent.model.script([reply([toolUse("read_local_file", { filePath: "big.txt" })]), reply([text("It is read.")])]);
  expect(await say(agent, "Read")).toMatchObject({ code: 0, stdout: ["It is read."] });
  expect(await agent.calls()).toMatchObject([{ state: "success", result: { size: 100_000 } }]);
});

test("a client that leaves and comes back can go on talking, and nothing is shown twice", async () => {
  await using agent = await TestAgent.start();
  agent.model.script([
    reply([text("One.")]),
    reply([toolUse("read_local_file", { filePath: "notes.txt" })]),
    reply([text("Two.")]),
  ]);
  const client = await startClient(agent);
  await expect.poll(() => client.stderr, { timeout: 10_000 }).toContainEqual(expect.stringContaining("ready"));
  client.type("One");
  await expect.poll(() => client.stdout, { timeout: 10_000 }).toContain("One.");
  client.type("/rejoin");
  client.type("Two");
  await expect.poll(() => client.stdout, { timeout: 10_000 }).toContain("Two.");
  client.type("/quit");
  expect(await client.ended).toMatchObject({ code: 0, stdout: ["One.", "Two."] });
  expect(await agent.calls()).toMatchObject([{ state: "success", extra_answers: [] }]);
});

test("--say exits with 1 when the turn fails", async () => {
  await using agent = await TestAgent.start({ retryBudgetMs: 0 });
  expect(await say(agent, "Hello")).toMatchObject({ code: 1 });
});

test("a client that was killed and restarts numbers its stanzas from 1", async () => {
  await using agent = await TestAgent.start();
  for (const content of ["One.", "Two."]) {
    agent.model.script([reply([text(content)])]);
    const client = await startClient(agent);
    await expect.poll(() => client.stderr, { timeout: 10_000 }).toContainEqual(expect.stringContaining("ready"));
    client.type("Go");
    await expect.poll(() => client.stdout, { timeout: 10_000 }).toContain(content);
    client.kill();
  }
});

const bytesOf = (type: number, body: object, stanzaId: number) =>
  encode({ stanzaId, conversationId: "c", type, meta: {}, body: { conversationId: "c", ...body } });

/**
 * Starts a stand-in for the worker. It sends only what a test tells it to send, including messages that our worker
 * never sends.
 */
async function startFakeWorker() {
  const roomName = `room-${createId()}`;
  const worker = await Participant.join(roomName, "fake-agent", { kind: "agent" });
  const received: Envelope[] = [];
  worker.room.removeAllListeners(RoomEvent.DataReceived);
  worker.room.unregisterByteStreamHandler("parley");
  const send = (type: number, body: object, stanzaId: number) => worker.sendBytes(bytesOf(type, body, stanzaId));
  const take = (bytes: Uint8Array) => {
    const envelope = decode(bytes) as Envelope;
    received.push(envelope);
    if (envelope.stanzaId > 0) void send(8, { acknowledgedStanzaId: envelope.stanzaId, success: true }, 0);
    if (envelope.type === 12) void send(12, {}, -1);
  };
  worker.room.on(RoomEvent.DataReceived, (bytes) => take(bytes));
  worker.room.registerByteStreamHandler("parley", (reader) => {
    void reader.readAll().then(
      (chunks) => take(Buffer.concat(chunks)),
      () => {},
    );
  });
  onTestFinished(() => worker.leave());
  const client = await startClient({ roomName });
  await expect.poll(() => client.stderr, { timeout: 10_000 }).toContainEqual(expect.stringContaining("ready"));
  const bodies = (type: number) => received.filter((one) => one.type === type).map(({ body }) => body);
  return { roomName, client, send, bodies };
}

test("requests that our worker never sends: no execution, a repeat, a cancel, another sender", async () => {
  const { roomName, client, send, bodies } = await startFakeWorker();
  const request = (id: string, more: object) => ({ id, messageId: "m", toolName: "read_local_file", ...more });
  const notes = { parameters: { filePath: "notes.txt" } };
  const results = () => bodies(7);

  await send(6, request("none", notes), -2);
  await send(6, request("new", { ...notes, execution: "elsewhere" }), -3);
  await expect
    .poll(() => bodies(1))
    .toMatchObject([
      { code: 101, originatingId: "none" },
      { code: 101, originatingId: "new" },
    ]);
  expect(results()).toEqual([]);

  await send(6, request("bare", { execution: "client" }), -3);
  await expect.poll(results).toMatchObject([{ id: "bare", success: false, errorCode: "invalid_parameters" }]);
  await send(6, request("timed", { ...notes, execution: "client", timeoutMs: "5" }), -3);
  await expect.poll(() => results().at(-1)).toMatchObject({ id: "timed", errorCode: "invalid_parameters" });
  await send(6, request("odd", { execution: "client", toolName: ["scan"] }), -3);
  await expect.poll(() => results().at(-1)).toMatchObject({ id: "odd", errorCode: "unknown_tool" });

  await send(6, request("twice", { ...notes, execution: "client" }), -4);
  await expect.poll(() => results().at(-1)).toMatchObject({ id: "twice", success: true, result: { content: "Milk" } });
  await writeFile(join(folder, "notes.txt"), "Changed");
  onTestFinished(async () => writeFile(join(folder, "notes.txt"), "Milk"));
  await send(6, request("twice", { ...notes, execution: "client" }), -4);
  await expect.poll(() => results().length).toBe(5);
  expect(results()[4]).toEqual(results()[3]);

  const slow = { toolName: "wait_for_local_file", execution: "client", parameters: { filePath: "never" } };
  await send(6, request("slow", slow), -5);
  await send(103, { id: "slow", reason: "interrupted" }, -6);
  await expect.poll(() => results().at(-1)).toMatchObject({ id: "slow", success: false, errorCode: "cancelled" });
  // A cancel that arrives before its request.
  await send(103, { id: "early", reason: "superseded" }, -7);
  await send(6, request("early", slow), -8);
  await expect.poll(() => results().at(-1)).toMatchObject({ id: "early", errorCode: "cancelled" });

  const stranger = await Participant.join(roomName, "stranger");
  onTestFinished(() => stranger.leave());
  await stranger.sendBytes(bytesOf(6, request("stolen", { ...notes, execution: "client" }), -9));
  await stranger.sendBytes(bytesOf(6, request("stolen", { ...notes, execution: "client" }), -9), true);
  await send(6, request("either", { ...notes, execution: "either" }), -10);
  await expect.poll(() => results().at(-1)).toMatchObject({ id: "either", success: true });
  expect(bodies(8)).toMatchObject([{ acknowledgedStanzaId: -10, success: true }]);

  client.type("/rejoin");
  await expect.poll(() => bodies(12).at(-1)?.["lastSequenceSeen"], { timeout: 10_000 }).toBe(10);
  expect(results().map(({ id }) => id)).not.toContain("stolen");
});
