import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { decode, encode, fakeParticipant, FakeSession, lastUserText } from "../../support/doubles/fake-session.ts";
import { FakeVoice } from "../../support/doubles/fake-voice.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";

const TALKS = propertyRuns(60);
const USER = fakeParticipant("user");

/**
 * One turn of a participant, who pauses after each recognized piece. After every pause except the last, the participant
 * continues.
 */
const turn = fc.record({
  pausesMs: fc.array(fc.constantFrom(0, 1, 20, 200), { minLength: 1, maxLength: 4 }),
  uses: fc.constantFrom("nothing", "a tool", "a tool that is asked about"),
  /** "typed" if the spoken turn never ends: the sound was not speech, or somebody typed meanwhile. */
  end: fc.constantFrom("said", "said", "said", "typed"),
});
const talk = fc.array(turn, { minLength: 4, maxLength: 12 });

async function play(turns: readonly (typeof turn extends fc.Arbitrary<infer Turn> ? Turn : never)[], name: number) {
  const voice = new FakeVoice();
  const sent: string[] = [];
  const ran: string[] = [];
  const asked: string[] = [];
  let questions = 0;
  const tool = (type: string) =>
    defineTool({
      description: "Orders.",
      input: z.object({ what: z.string() }),
      permission: { type, pattern: ({ what }) => what, title: ({ what }) => what },
      run: ({ what }) => ran.push(what),
    });
  const fake = new FakeSession({
    voice,
    tools: { order: tool("order"), order_with_leave: tool("leave") },
    policy: {
      speculates: true,
      permission: { rules: [{ type: "order", pattern: "*", action: "allow" }], byVoice: false, waitMs: 120_000 },
    },
    think: (history) => {
      const words = lastUserText(history);
      if (words === undefined) return { text: "That is all." };
      asked.push(words);
      if (words.includes("leave"))
        return { text: `You ask for ${words}.`, uses: [{ name: "order_with_leave", input: { what: words } }] };
      if (words.includes("order"))
        return { text: `You want ${words}.`, uses: [{ name: "order", input: { what: words } }] };
      return { text: `You say ${words}.` };
    },
    publish: async (bytes) => {
      const { message } = decode(bytes);
      if (message.type !== "transcription") sent.push(JSON.stringify(message.body));
      if (message.type !== "permission_request") return;
      questions++;
      const body = { permissionId: message.body.id, response: "approve" } as const;
      fake.session.handle({
        type: "packet",
        from: USER,
        bytes: encode(100 + questions, { type: "permission_response", body }),
      });
    },
  });
  const { session } = fake;
  session.handle({ type: "joined", participant: USER });
  const configuration = { serverTools: [], clientTools: [], features: ["permissions"] };
  session.handle({ type: "packet", from: USER, bytes: encode(1, { type: "configuration", body: configuration }) });
  await vi.advanceTimersByTimeAsync(100);
  const whole: string[] = [];
  for (const [index, { pausesMs, uses, end }] of turns.entries()) {
    const wanted = { nothing: "say", "a tool": "order", "a tool that is asked about": "leave" }[uses];
    const id = `talk-${name}-${index}`;
    let words = `${wanted} ${id}`;
    for (const [piece, ms] of pausesMs.entries()) {
      words += ` piece ${piece}`;
      session.handle({
        type: "transcript",
        from: USER,
        transcript: { id, text: words, language: "en" },
        isFinal: true,
      });
      await vi.advanceTimersByTimeAsync(ms);
    }
    // In every second turn, the final transcript has more words than were recognized before.
    if (index % 2 === 1) words += " and no more";
    if (end === "said")
      session.handle({ type: "utterance", from: USER, transcript: { id, text: words, language: "en" } });
    else session.handle({ type: "chat", from: USER, id: `${id}-typed`, text: (words = `${wanted} typed ${id}`) });
    whole.push(words);
    await vi.advanceTimersByTimeAsync(5_000);
  }
  await session.close(0);
  return { voice, sent, ran, asked, questions, whole, fake };
}

test(
  `over ${TALKS} sessions whose participants continue after a pause, an answer to half a turn has no effect`,
  { timeout: 30_000 + TALKS * 50 },
  async () => {
    vi.useFakeTimers();
    let early = 0;
    let calls = 0;
    let turns = 0;
    for (const [name, planned] of fc.sample(talk, { seed: propertySeed(), numRuns: TALKS }).entries()) {
      const { voice, sent, ran, asked, questions, whole, fake } = await play(planned, name);
      const wanted = (word: string) => whole.filter((words) => words.startsWith(word));
      const answers = whole.map((words) => `${answerTo(words)} ${words}.`);
      expect(ran).toEqual(whole.filter((words) => !words.startsWith("say")));
      expect(questions).toBe(wanted("leave").length);
      const said = voice.said.join(" ");
      const stored = JSON.stringify([...fake.recorder.turns.values()].map(({ blocks }) => blocks));
      for (const void_ of asked.filter((words) => !whole.includes(words))) {
        for (const place of [said, stored, sent.join(" ")]) expect(place).not.toContain(`${void_}.`);
        expect(stored).not.toContain(`"${void_}"`);
        early++;
      }
      for (const answer of answers) expect(said).toContain(answer);
      expect(new Set(asked).size).toBe(asked.length);
      calls += asked.length;
      turns += whole.length;
    }
    vi.useRealTimers();
    // The test proves something only if enough answers began early. The number of model calls must stay moderate.
    expect(early).toBeGreaterThan(TALKS / 4);
    expect(calls / turns).toBeLessThan(1.5);
  },
);

function answerTo(words: string): string {
  if (words.startsWith("leave")) return "You ask for";
  return words.startsWith("order") ? "You want" : "You say";
}
