import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import Anthropic from "@anthropic-ai/sdk";
import { loadRtcNode } from "../../src/livekit/load-rtc-node.ts";
import { connect } from "../../src/store/database/pool.ts";
import { startOwnLivekit } from "../../test/support/servers/own-livekit.ts";
import { tokenFor } from "../arms/talk.ts";
import { clockMs } from "../clock.ts";
import type { FigureName } from "../report/figures.ts";
import { type Bench, repeat, type Work } from "./work.ts";
import { programEnvironment } from "../../src/tool/program-environment.ts";

/** The size of a small tool request with its envelope. */
const PACKET_BYTES = 300;

/** How long to pause between two packets. Turns have similar pauses, in which processes and cores go to sleep. */
const PAUSE_MS = 10;

/** Measures separately what any agent needs at least: network hops, model calls and SQL statements. */
export const floors: Work = {
  name: "floors",
  hasArms: false,
  async run(bench) {
    await using open = await openFloors(bench);
    for (let round = 0; round < bench.extent.rounds; round++) await open.measure(round);
  },
};

interface Floors extends AsyncDisposable {
  readonly measure: (round: number) => Promise<void>;
}

export async function openFloors({ model, databaseUrl, extent, samples }: Bench): Promise<Floors> {
  await using opening = new AsyncDisposableStack();
  const hops = opening.use(await openHops());
  const client = new Anthropic({ baseURL: `${model.url}/floor`, apiKey: "bench" });
  const sql = connect(databaseUrl, { maxConnections: 1 });
  opening.defer(() => sql.end());
  await sql`create table if not exists bench_floor (id bigserial primary key, text text not null)`;
  const works = {
    packet: hops.packet,
    pausedPacket: hops.packet,
    rpc: hops.rpc,
    textStream: hops.textStream,
    modelCall: () => callModel(client),
    select: async () => void (await sql`select 1`),
    insert: async () => void (await sql`insert into bench_floor (text) values (${"x".repeat(PACKET_BYTES)})`),
  } satisfies Partial<Record<FigureName, () => Promise<void>>>;
  for (const work of Object.values(works)) await repeat(extent.warmUp, work);
  const open = opening.move();
  return {
    async measure(round) {
      for (const [figure, work] of Object.entries(works)) {
        const values = await repeat(extent.questions, async () => {
          if (figure === "pausedPacket") await sleep(PAUSE_MS);
          const startedAt = clockMs();
          await work();
          return clockMs() - startedAt;
        });
        samples.add(figure as FigureName, "floor", { round, values });
      }
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function callModel(client: Anthropic): Promise<void> {
  const messages = [{ role: "user" as const, content: "What time is it? [q-floor]" }];
  const stream = await client.messages.create({ model: "bench", max_tokens: 1_024, stream: true, messages });
  let text = "";
  for await (const event of stream)
    if (event.type === "content_block_delta" && event.delta.type === "text_delta") text += event.delta.text;
  if (!text.endsWith("That was floor.")) throw new Error(`The model said: ${text}`);
}

/** Connects two participants in two processes, one of which echoes everything. */
async function openHops() {
  await using opening = new AsyncDisposableStack();
  const livekit = await startOwnLivekit();
  opening.defer(() => livekit.close());
  const room = `floor-${process.pid}`;
  const echo = fork(
    fileURLToPath(new URL("../arms/echo.ts", import.meta.url)),
    [livekit.url, await tokenFor(livekit, room, "echo")],
    { env: programEnvironment("NODE_ENV", "RUST_LOG") },
  );
  const exited = once(echo, "exit");
  opening.defer(async () => {
    if (echo.connected) echo.disconnect();
    await exited;
  });
  await once(echo, "message");
  const { Room, RoomEvent } = await loadRtcNode();
  const own = new Room();
  let onBack = () => {};
  own.on(RoomEvent.DataReceived, () => onBack());
  own.registerTextStreamHandler("back", (reader) => void reader.readAll().then(() => onBack()));
  await own.connect(livekit.url, await tokenFor(livekit, room), { autoSubscribe: false, dynacast: false });
  opening.defer(() => own.disconnect());
  const local = own.localParticipant;
  if (!local) throw new Error("not connected");
  const bytes = crypto.getRandomValues(new Uint8Array(PACKET_BYTES));
  const back = async (send: () => Promise<unknown>) => {
    const came = new Promise<void>((resolve) => (onBack = resolve));
    await Promise.all([send(), came]);
  };
  const open = opening.move();
  return {
    packet: () => back(() => local.publishData(bytes, { reliable: true, topic: "there" })),
    rpc: async () => {
      await local.performRpc({ destinationIdentity: "echo", method: "echo", payload: "x".repeat(PACKET_BYTES) });
    },
    textStream: () => back(() => local.sendText("x".repeat(PACKET_BYTES), { topic: "there" })),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
