import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createId } from "../src/lib/id.ts";
import type { JsonObject } from "../src/lib/json.ts";
import { Participant } from "../test/support/participant.ts";
import { tempDatabase } from "../test/support/servers/temp-database.ts";
import { Speaker } from "../test/support/speaker.ts";
import type { Arm } from "./arms/arm.ts";
import { startParley } from "./arms/parley.ts";
import { AGENTS_JS_VOICE, installPeer, startPeer } from "./arms/peer.ts";
import { startModel } from "./model/start-model.ts";
import { median, quantile } from "./report/stats.ts";
import { today } from "./report/marked-places.ts";
import { recordVoice } from "./report/voice-record.ts";
import { fetchRecordings } from "./speech/recordings.ts";
import { rotate } from "./works/work.ts";

const TURNS = 8;
/**
 * How long after its first sound an answer of five seconds is interrupted. Each turn is interrupted `LATER_MS` later
 * than the one before, so that the result does not depend on where a word ends.
 */
const INTERRUPTED_AFTER_MS = 1_500;
const LATER_MS = 50;
/** How long a silence must be, in ms, to count as a stop and not as a gap between two words. */
const GAP_MS = 400;

const ARMS = ["Parley", "Parley, speculate: false", "agents-js"] as const;
type ArmName = (typeof ARMS)[number];

/**
 * Measures the time from the end of the participant's speech to the agent's first sound, and from the first sound of an
 * interruption to silence. What is spoken are recordings of people, because a model that judges by sound whether somebody
 * has finished does not know how synthesized voices end. The recognizer is a stand-in that always understands one question.
 */
test.each([
  {
    slowMs: 0,
    interrupts: true,
    title: "a model that answers at once: last sound of the question → first of the answer",
  },
  { slowMs: 600, interrupts: false, title: "a model that takes 600 ms" },
])("a model with $slowMs ms to its first words", { timeout: 900_000 }, async ({ slowMs, interrupts, title }) => {
  installPeer(AGENTS_JS_VOICE, console.log);
  await using open = new AsyncDisposableStack();
  const model = open.use(await startModel({ slowMs }));
  const env = { STT: "openai", STT_BASE_URL: `${model.url}/v1`, TTS: "espeak" };
  const parley = async (config?: JsonObject) => {
    const { url: databaseUrl } = open.use(await tempDatabase());
    return startParley({ databaseUrl, modelUrl: model.url, env, ...(config && { config }) });
  };
  const arms: [ArmName, Arm][] = [
    ["Parley", open.use(await parley())],
    ["Parley, speculate: false", open.use(await parley({ voice: { speculate: false } }))],
    ["agents-js", open.use(await startPeer(AGENTS_JS_VOICE, model.url))],
  ];
  const sentences = (await fetchRecordings()).filter(({ words }) => words.split(" ").length > 3);
  const users = new Map<ArmName, Speaker>();
  for (const [name, { livekit }] of arms) {
    const client = await Participant.join(`voice-${createId()}`, "user", { server: livekit });
    const user = new Speaker(client);
    open.defer(async () => {
      await user.close();
      await client.leave();
    });
    await user.publish();
    await user.untilConnected();
    users.set(name, user);
  }
  const answered = new Map<ArmName, number[]>(ARMS.map((name) => [name, []]));
  const silenced = new Map<ArmName, number[]>(ARMS.map((name) => [name, []]));
  for (let turn = 0; turn <= TURNS; turn++)
    for (const name of rotate(ARMS, turn)) {
      const { samples } = sentences[turn % sentences.length] ?? { samples: new Int16Array() };
      const user = users.get(name);
      if (!user) throw new TypeError("unreachable");
      const { to } = await user.playAloud(samples);
      const heard = await user.untilSound(to);
      // Excludes the first turn, which loads code and data that later turns reuse.
      if (turn > 0) answered.get(name)?.push(heard - to);
      if (interrupts) {
        await sleep(heard + INTERRUPTED_AFTER_MS + turn * LATER_MS - performance.now());
        const { from, to: until } = await user.playAloud(samples);
        const after = await user.untilSound(until);
        if (turn > 0) silenced.get(name)?.push(stopOf(user, from, after) - from);
      }
      await user.untilSilence(1_500);
    }
  expect([...answered.values()].map(({ length }) => length)).toEqual(ARMS.map(() => TURNS));
  const measured = { [title]: answered, ...(interrupts && { "first sound of an interruption → silence": silenced }) };
  for (const [what, byArm] of Object.entries(measured)) print(what, byArm);
  await recordVoice(({ beside }) => {
    const medians = Object.entries(measured).map(([what, byArm]) => [what, mediansOf(byArm)] as const);
    return { beside: { at: today(), medians: { ...beside.medians, ...Object.fromEntries(medians) } } };
  });
});

/** Returns the time of the first sound after `since` that is followed by silence. */
function stopOf({ heardAt }: Speaker, since: number, before: number): number {
  const sounds = heardAt.filter((at) => at >= since && at < before);
  return sounds.find((at, index) => (sounds[index + 1] ?? Number.POSITIVE_INFINITY) - at > GAP_MS) ?? since;
}

function mediansOf(byArm: ReadonlyMap<ArmName, readonly number[]>): Record<ArmName, number> {
  const medians = [...byArm].map(([name, values]) => [name, Math.round(median(values))] as const);
  return Object.fromEntries(medians) as Record<ArmName, number>;
}

function print(what: string, byArm: ReadonlyMap<ArmName, readonly number[]>): void {
  const stock = byArm.get("agents-js") ?? [];
  for (const [name, values] of byArm) {
    const ratio = (median(values) / median(stock)).toFixed(2);
    const [p50, p95] = [median(values), quantile(values, 0.95)].map(Math.round);
    console.log(`${what}: ${name.padEnd(24)} p50 ${p50}, p95 ${p95} ms, ${ratio} of agents-js`);
  }
}
