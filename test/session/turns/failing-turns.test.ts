import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { SessionAgents } from "../../../src/session/agent/session-agents.ts";
import type { SessionWorld } from "../../../src/session/assemble-session.ts";
import type { VoicePort } from "../../../src/session/room/voice-port.ts";
import type { Message } from "../../../src/protocol/messages/messages.ts";
import { decode, encode, fakeParticipant, FakeSession } from "../../support/doubles/fake-session.ts";
import { FakeVoice } from "../../support/doubles/fake-voice.ts";

/** A fault that throws once: when a broken part first reaches it after `arm`. */
class Fault {
  #isArmed = false;

  arm(): void {
    this.#isArmed = true;
  }

  meet(): void {
    if (!this.#isArmed) return;
    this.#isArmed = false;
    throw new RangeError("Broken");
  }
}

type Break = (fault: Fault) => Partial<SessionWorld>;

/** Replaces the session's agent with one that has a broken part. */
function brokenAgent(part: (fault: Fault) => object): Break {
  return (fault) => {
    const whole = { instructions: "I.", replyTo: "all", names: ["Parley"], callTools: {}, handoffs: {}, idle: [] };
    const fields = { ...whole, permission: { rules: [] }, model: "fake", serverToolBytes: 0, mayUse: () => true };
    const defaultAgent = Object.defineProperties(
      { name: "default", ...fields },
      Object.getOwnPropertyDescriptors(part(fault)),
    ) as never;
    const agents = new SessionAgents({
      agents: new Map([["default", defaultAgent]]),
      defaultAgent,
      dispatch: "",
      readRoom: () => ({ name: "fake", metadata: "", participants: [] }),
      logger: pino({ enabled: false }),
    });
    agents.handleConnected();
    return { agents };
  };
}

function brokenVoice(part: keyof ReturnType<FakeVoice["open"]>): Break {
  return (fault) => {
    const voice = new FakeVoice();
    const openWhole = voice.open;
    const open: VoicePort["open"] = (answer) => {
      const spoken = openWhole(answer);
      const broken = (...given: readonly unknown[]) => {
        fault.meet();
        return (spoken[part as "write"] as (...all: readonly unknown[]) => unknown)(...given);
      };
      return { ...spoken, [part]: broken };
    };
    return { voice: Object.assign(voice, { open }) };
  };
}

const WAYS: Readonly<Record<string, Break>> = {
  "the agent's instructions": brokenAgent((fault) => ({
    get instructions() {
      fault.meet();
      return "I.";
    },
  })),
  "the agent's names": brokenAgent((fault) => ({
    get names() {
      fault.meet();
      return ["Parley"];
    },
  })),
  "who the agent answers": brokenAgent((fault) => ({
    get replyTo() {
      fault.meet();
      return "all";
    },
  })),
  "the policy of steps": (fault) => ({
    policy: {
      model: "fake",
      toolTimeoutMs: 30_000,
      toolResultMaxBytes: 100_000,
      permission: { rules: [], byVoice: false, waitMs: 120_000 },
      context: { budgetTokens: 30_000, hardTokens: 120_000, instructionBytes: 0 },
      onNewMessage: "queue",
      get maxSteps() {
        fault.meet();
        return 10;
      },
    },
  }),
  memories: (fault) => ({ memories: { of: () => [], read: () => fault.meet() } as never }),
  "memories that are read later": (fault) => ({
    memories: { of: () => [], read: () => Promise.resolve().then(() => fault.meet()) } as never,
  }),
  "the model's request": (fault) => ({
    countTokens: () => {
      fault.meet();
      return Promise.resolve(1);
    },
    policy: {
      model: "fake",
      maxSteps: 10,
      toolTimeoutMs: 30_000,
      toolResultMaxBytes: 100_000,
      permission: { rules: [], byVoice: false, waitMs: 120_000 },
      context: { budgetTokens: 1, hardTokens: 30, instructionBytes: 0 },
      onNewMessage: "queue",
    },
  }),
  "giving the voice words": brokenVoice("write"),
};

/** Asks twice, with a fault during the first answer. */
async function askTwice(
  world: Partial<SessionWorld>,
  { fault, prepare }: { readonly fault: Fault; readonly prepare?: (fake: FakeSession) => void },
) {
  const sent: Message[] = [];
  const fake = new FakeSession({
    think: () => ({ text: "Fine." }),
    publish: (bytes) => Promise.resolve(void sent.push(decode(bytes).message)),
    world,
  });
  prepare?.(fake);
  const from = fakeParticipant("user");
  fake.session.handle({ type: "joined", participant: from });
  const say = (id: string, stanza: number) => {
    const bytes = encode(stanza, { type: "user_message", body: { id, content: "Hello" } });
    fake.session.handle({ type: "packet", from, bytes });
  };
  const errors = () => sent.flatMap(({ type, body }) => (type === "error_message" ? [body.originatingId] : []));
  const isAnswered = (id: string) => {
    const answer = sent.find(({ type, body }) => type === "start_answer" && body.previousId === id)?.body as {
      id: string;
    };
    return sent.some(
      ({ type, body }) => type === "assistant_sentence" && body.previousId === answer?.id && body.isFinal,
    );
  };
  fault.arm();
  say("one", 1);
  await vi.waitUntil(() => errors().length > 0, 10_000);
  say("two", 2);
  await vi.waitUntil(() => isAnswered("two"), 10_000);
  await fake.session.close(1_000);
  const stored = [...fake.recorder.turns.values()].map(({ turn, state }) => [turn.parentMessageId, state]);
  return { errors: errors(), stored };
}

test.each(Object.entries(WAYS))(
  "when a turn fails at %s, its participant is told, the failure is stored, and the next turn is answered",
  async (_, breakIt) => {
    const fault = new Fault();

    expect(await askTwice(breakIt(fault), { fault })).toEqual({
      errors: ["one"],
      stored: [
        ["one", "failed"],
        ["two", "completed"],
      ],
    });
  },
);

test.each(["beginTurn", "blocksOf", "finishTurn"] as const)(
  "when a turn fails at the record's %s, its participant is told, and the next turn is answered",
  async (method) => {
    const fault = new Fault();
    const prepare = ({ recorder }: FakeSession) => {
      const whole = (recorder[method] as (...given: readonly unknown[]) => unknown).bind(recorder);
      const broken = (...given: readonly unknown[]) => {
        fault.meet();
        return whole(...given);
      };
      Object.assign(recorder, { [method]: broken });
    };

    const { errors, stored } = await askTwice({}, { fault, prepare });

    expect(errors).toEqual(["one"]);
    expect(stored.at(-1)).toEqual(["two", "completed"]);
  },
);

test("when the end of an answer's speech fails, its participant is told, and the next turn is answered", async () => {
  const fault = new Fault();

  const { errors, stored } = await askTwice(brokenVoice("end")(fault), { fault });

  expect(errors).toEqual(["one"]);
  expect(stored.at(-1)).toEqual(["two", "completed"]);
});

test("an answer for which the voice cannot be opened is only shown", async () => {
  const sent: Message[] = [];
  const voice = new FakeVoice();
  const open = () => {
    throw new RangeError("Broken");
  };
  const fake = new FakeSession({
    think: () => ({ text: "Fine." }),
    publish: (bytes) => Promise.resolve(void sent.push(decode(bytes).message)),
    voice: Object.assign(voice, { open }),
  });
  const from = fakeParticipant("user");
  const bytes = encode(1, { type: "user_message", body: { id: "one", content: "Hello" } });
  fake.session.handle({ type: "packet", from, bytes });

  const isShown = () => sent.some(({ type, body }) => type === "assistant_sentence" && body.text === "Fine.");
  await vi.waitUntil(isShown, 10_000);
  expect(sent.filter(({ type }) => type === "error_message")).toEqual([]);
});
