import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createId } from "../src/lib/id.ts";
import { decodeEnvelope } from "../src/protocol/codec/decode-envelope.ts";
import { MESSAGES } from "../src/protocol/messages/messages.ts";
import { mainThreadMs } from "../src/worker/process/running-processes.ts";
import { reply, text } from "../src/model-server/step.ts";
import { rawPacket } from "../test/support/attack.ts";
import type { Participant } from "../test/support/participant.ts";
import { jobProcesses } from "../test/worker/support/run-main.ts";
import { WorkerParts } from "../test/worker/support/worker-parts.ts";

const FLOOD_MS = 10_000;
/**
 * How many messages may be on their way at the same time. A client that never waits loses messages that LiveKit cannot
 * buffer.
 */
const AT_ONCE = 16;

const manyValues = () => {
  const rows = Array.from({ length: 900 }, (_, row) => ({ [`k${row}`]: row }));
  return { id: createId(), content: "Hi", rows };
};
const schema = {
  type: "object",
  allOf: Array.from({ length: 640 }, () => ({ if: { required: ["a"] }, else: { required: ["b"] } })),
};
const tools = Array.from({ length: 4 }, (_, index) => ({
  name: `tool_${index}`,
  description: "A.",
  inputSchema: schema,
}));

let stanza = 1_000;
const next = () => (stanza += 1);

/** The messages that one participant sends as fast as possible. */
const FLOODS: Readonly<Record<string, (user: Participant) => Promise<void>>> = {
  "messages of 50 bytes": (user) => user.sendBytes(message({ id: createId(), content: "Hi" })),
  "packets of 13 kB with 1,800 values": (user) => user.sendBytes(message(manyValues())),
  "bytes that are no message": (user) => user.sendBytes(new Uint8Array(13_000).fill(0x91)),
  "results that nobody asked for": (user) =>
    user.sendBytes(
      rawPacket({
        type: MESSAGES.tool_use_result.number,
        stanzaId: next(),
        body: { id: createId(), success: true, result: { a: 1 } },
      }),
    ),
  "announcements with schemas of 30 kB": (user) =>
    user.sendBytes(rawPacket({ type: MESSAGES.configuration.number, stanzaId: next(), body: { tools } })),
  "texts on lk.chat": async (user) => {
    await user.room.localParticipant?.sendText("Hi", { topic: "lk.chat" });
  },
};

function message(body: Record<string, unknown>): Uint8Array {
  return rawPacket({ type: MESSAGES.user_message.number, stanzaId: next(), body });
}

/**
 * Returns the rows of a table, whose column names are taken from `keys` different keys. With more keys than columns,
 * neighboring rows have different keys.
 */
const table = (rows: number, columns: number, keys: number) =>
  Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(Array.from({ length: columns }, (_, column) => [`k${(row * columns + column) % keys}`, column])),
  );
/** The largest results that fit the limits of a packet. */
const PACKETS: Readonly<Record<string, unknown>> = {
  "4,500 rows of 10 columns": table(4_500, 10, 10),
  "4,500 rows of 10 of 990 keys": table(4_500, 10, 990),
  "450 rows of 100 of 990 keys": table(450, 100, 990),
  "200 rows of 245 of 245 keys": table(200, 245, 245),
  "50 rows of 990 columns": table(50, 990, 990),
  "24,000 maps of one of 990 keys": table(24_000, 1, 990),
  "24,000 lists of one number": Array.from({ length: 24_000 }, (_, index) => [index]),
  "49,000 numbers": Array.from({ length: 49_000 }, (_, index) => index),
  "49,000 short texts": Array.from({ length: 49_000 }, (_, index) => `t${index}`),
  "3 texts of 1 MB": Array.from({ length: 3 }, () => "é".repeat(500_000)),
};

test.each(Object.entries(PACKETS))("a packet of %s", (name, rows) => {
  const body = { id: createId(), success: true, result: { rows } };
  const bytes = rawPacket({ type: MESSAGES.tool_use_result.number, stanzaId: 1, body });
  const costs = Array.from({ length: 9 }, () => {
    const before = process.cpuUsage();
    decodeEnvelope(bytes);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  const median = costs.toSorted((a, b) => a - b)[4] ?? 0;
  console.log(`a packet of ${name}: ${Math.round(bytes.length / 1_000)} kB, ${median.toFixed(1)} ms`);
  expect(decodeEnvelope(bytes)).toHaveProperty("message");
});

test.each(Object.entries(FLOODS))("%s", async (name, send) => {
  await using parts = await WorkerParts.start();
  const worker = await parts.run();
  const attacker = await parts.join(`room-${createId()}`, "attacker");
  await attacker.next("configuration", () => true, 20_000);
  await attacker.configure({});
  parts.model.script(() => reply([text("Yes.")]));
  await sleep(3_000);
  const hosts = jobProcesses(worker.pid);
  const computed = () => hosts.reduce((sum, pid) => sum + mainThreadMs(pid), 0);

  const before = computed();
  const startedAt = performance.now();
  let sent = 0;
  const flood = async () => {
    while (performance.now() - startedAt < FLOOD_MS) {
      await send(attacker);
      sent += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, flood));
  const ms = performance.now() - startedAt;
  const percent = (100 * (computed() - before)) / ms;
  console.log(`${name}: ${Math.round((1_000 * sent) / ms)} a second, ${percent.toFixed(1)} % of a core`);
  expect(sent).toBeGreaterThan(0);
});
