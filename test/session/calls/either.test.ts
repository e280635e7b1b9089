import { expect, test } from "vitest";
import { z } from "zod";
import type { Message, MessageBody } from "../../../src/protocol/messages/messages.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { decode, encode, fakeParticipant, FakeSession, lastUserText } from "../../support/doubles/fake-session.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { forEachTest } from "../../support/lifetimes.ts";

const clock = forEachTest(() => new VirtualClock());

const TIMEOUT_MS = 20_000;
const SERVER_MS = 100;

/** A `new` client supports claims; an `old` one knows only spec/000. */
type Age = "old" | "new";
/** The tools that the client has announced: this one, none, or unknown because it has sent no list. */
type List = "announced" | "not announced" | "unknown";
/** How the client handles a request: it answers soon or late, starts and leaves, lacks the tool, or stays silent. */
type Pace = "fast" | "slow" | "gone" | "lacks it" | "silent" | "acknowledges it";

/** One call of an `either` tool, in the turn of the participant whose client may run it. */
class Talk {
  readonly runs = { client: 0, server: 0 };
  readonly #age: Age;
  readonly #pace: Pace;
  readonly #fake: FakeSession;
  #stanza = 0;

  constructor(age: Age, list: List, [pace, idempotent = false]: readonly [Pace, boolean?]) {
    this.#age = age;
    this.#pace = pace;
    const both = defineTool({
      description: "B.",
      input: z.object({}),
      execution: "either",
      timeoutMs: TIMEOUT_MS,
      idempotent,
      run: async () => {
        this.runs.server++;
        await new Promise((resolve) => setTimeout(resolve, SERVER_MS));
        return "from the server";
      },
    });
    this.#fake = new FakeSession({
      tools: { both },
      think: (history) => (lastUserText(history) === "Go" ? { uses: [{ name: "both" }] } : { text: "Done." }),
      publish: async (bytes) => {
        const { stanzaId, message } = decode(bytes);
        if (message.type === "tool_use_request") clock.after(5, () => this.#take(stanzaId, message.body));
      },
    });
    const features = age === "new" ? { features: ["claims", "tool_use_cancel"] } : {};
    const tool = { name: "both", description: "B.", inputSchema: { type: "object" }, timeoutMs: TIMEOUT_MS };
    const tools = list === "unknown" ? {} : { tools: list === "announced" ? [tool] : [] };
    // A client that knows only spec/000 may not send a Configuration.
    if (age === "new" || list !== "unknown") this.#say({ type: "configuration", body: { ...features, ...tools } });
    this.#say({ type: "user_message", body: { id: "go", content: "Go" } });
  }

  get calls() {
    return this.#fake.recorder.settled.map(({ executionResolved, outcome }) => ({
      by: executionResolved,
      end: outcome && "errorCode" in outcome ? outcome.errorCode : outcome?.state,
    }));
  }

  #take(stanzaId: number, { id, execution }: MessageBody<"tool_use_request">): void {
    if (execution === "server" || this.#pace === "silent") return;
    if (this.#pace === "acknowledges it")
      return this.#say({ type: "acknowledgement", body: { acknowledgedStanzaId: stanzaId, success: true } });
    const lacksIt = this.#pace === "lacks it";
    if (this.#age === "new" && execution === "either") {
      this.#say({ type: "acknowledgement", body: { acknowledgedStanzaId: stanzaId, success: !lacksIt } });
      if (lacksIt) return;
    }
    if (lacksIt) return this.#answer(id, { success: false, errorCode: "unknown_tool" });
    this.runs.client++;
    if (this.#pace === "gone") return this.#fake.session.handle({ type: "left", identity: "user" });
    clock.after(this.#pace === "fast" ? 50 : 15_000, () => this.#answer(id, { success: true }));
  }

  #answer(id: string, result: Omit<MessageBody<"tool_use_result">, "id">): void {
    this.#say({ type: "tool_use_result", body: { id, ...result } });
  }

  #say(message: Message): void {
    this.#fake.session.handle({
      type: "packet",
      from: fakeParticipant("user"),
      bytes: encode(++this.#stanza, message),
    });
  }
}

const ON_CLIENT = { runs: { client: 1, server: 0 }, by: "client", end: "success" };
const ON_SERVER = { runs: { client: 0, server: 1 }, by: "server", end: "success" };
const LOST = { runs: { client: 1, server: 0 }, end: "client_disconnected" };
const NOBODY = { runs: { client: 0, server: 0 }, end: "timeout" };

type Expected = { readonly runs: Talk["runs"]; readonly by?: string; readonly end: string };
const TABLE: readonly [Age, List, Record<Exclude<Pace, "acknowledges it">, Expected>][] = [
  ["old", "announced", { fast: ON_CLIENT, slow: ON_CLIENT, gone: LOST, "lacks it": ON_SERVER, silent: NOBODY }],
  ["new", "announced", { fast: ON_CLIENT, slow: ON_CLIENT, gone: LOST, "lacks it": ON_SERVER, silent: NOBODY }],
  [
    "old",
    "not announced",
    { fast: ON_SERVER, slow: ON_SERVER, gone: ON_SERVER, "lacks it": ON_SERVER, silent: ON_SERVER },
  ],
  [
    "new",
    "not announced",
    { fast: ON_SERVER, slow: ON_SERVER, gone: ON_SERVER, "lacks it": ON_SERVER, silent: ON_SERVER },
  ],
  ["old", "unknown", { fast: ON_CLIENT, slow: ON_CLIENT, gone: LOST, "lacks it": ON_SERVER, silent: NOBODY }],
  // A client that supports claims but does not claim this call does not run it.
  ["new", "unknown", { fast: ON_CLIENT, slow: ON_CLIENT, gone: LOST, "lacks it": ON_SERVER, silent: ON_SERVER }],
];
test.each([
  ["says nothing", "silent", ON_SERVER],
  ["only acknowledges the request", "acknowledges it", ON_SERVER],
  ["answers late, but in time", "slow", ON_CLIENT],
] as const)(
  "an idempotent either call on a client that knows only spec/000, whose list is unknown and which %s, runs once",
  async (_what, pace, { runs, ...call }) => {
    const talk = new Talk("old", "unknown", [pace, true]);
    await clock.run(60_000);

    expect(talk.runs).toEqual(runs);
    expect(talk.calls).toMatchObject([call]);
  },
);

test("an idempotent either call on a silent client that has announced the tool is not run by the server", async () => {
  const talk = new Talk("old", "announced", ["silent", true]);
  await clock.run(60_000);

  expect([talk.runs, talk.calls]).toMatchObject([NOBODY.runs, [{ end: "timeout" }]]);
});

const rows = TABLE.flatMap(([age, list, ends]) => {
  return Object.entries(ends).map(([pace, expected]) => [age, list, pace as Pace, expected] as const);
});

test.each(rows)(
  "an either call on a client that is %s, its tool %s, and %s, has one winner and one run",
  async (...row) => {
    const [age, list, pace, { runs, ...call }] = row;
    const talk = new Talk(age, list, [pace]);
    await clock.run(60_000);

    expect(talk.runs).toEqual(runs);
    expect(talk.calls).toMatchObject([call]);
  },
);
