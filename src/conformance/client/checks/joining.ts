import { TOOL_NAME, LIMITS } from "../../../protocol/limits.ts";
import { workerFeatures } from "../../../protocol/messages/messages.ts";
import { type Check, check as make, ensure, NotApplicable } from "../../check.ts";
import { type ClientTalk, STARTS_WITHIN_MS, TOOLS } from "../client-talk.ts";

const check = make<ClientTalk>;

function firstConfiguration(talk: ClientTalk) {
  const [configuration] = talk.all("configuration");
  ensure(configuration !== undefined, "The client sent no Configuration");
  return configuration;
}

function announcedTools(talk: ClientTalk) {
  const { tools } = firstConfiguration(talk);
  if (!tools) throw new NotApplicable("The client does not announce its tools");
  return tools;
}

/** How a client joins a room that has a worker. */
export const joiningChecks: readonly Check<ClientTalk>[] = [
  check(
    "join.configuration",
    [
      "MUST",
      "The client sends its Configuration, before or after that. The worker answers with an Ack, then with its own Configuration.",
    ],
    (talk) => void firstConfiguration(talk),
  ),
  check("join.stream", ["SHOULD", "so send your first Configuration as one if you publish no track."], (talk) => {
    const first = talk.frames.items.find(({ message }) => message?.type === "configuration");
    ensure(first?.way === "stream", "The client sent its first Configuration as a packet, whose sender may be unknown");
  }),
  check(
    "join.first-stanza",
    [
      "MUST",
      "Your counter: a client counts 1, 2, 3…, and the worker -1, -2, -3… across all its clients, so you see gaps.",
    ],
    (talk) => {
      const first = talk.frames.items.find(({ stanzaId }) => stanzaId !== 0);
      ensure(first?.stanzaId === 1, `The client's first stanza is ${first?.stanzaId}`);
    },
  ),
  check("join.tools", ["MUST", "Says who you are, what you understand and which tools you offer."], (talk) => {
    const names = announcedTools(talk).map(({ name }) => name);
    const missing = TOOLS.filter((name) => !names.includes(name));
    ensure(missing.length === 0, `The client does not announce the tools ${missing.join(", ")}`);
  }),
  check("join.tool-names", ["MUST", "| `name` | text | yes | Matches `^[a-zA-Z0-9_-]{1,64}$`. |"], (talk) => {
    const names = announcedTools(talk).map(({ name }) => name);
    ensure(
      names.every((name) => TOOL_NAME.test(name)),
      `Some tool names are invalid: ${names.join(", ")}`,
    );
    ensure(new Set(names).size === names.length, `A tool name occurs twice: ${names.join(", ")}`);
  }),
  check("join.tool-schemas", ["MUST", "JSON Schema whose root is an object. Absent: any object."], (talk) => {
    const wrong = announcedTools(talk).find(({ inputSchema }) => inputSchema["type"] !== "object");
    ensure(wrong === undefined, `The schema of ${wrong?.name} does not have type "object" at the root`);
  }),
  check(
    "join.tool-count",
    ["MUST", "| announced tools of a client | 64; those after the 64th are not read |"],
    (talk) => {
      const { length } = announcedTools(talk);
      ensure(length <= LIMITS.announcedTools, `The client announces ${length} tools`);
    },
  ),
  check(
    "join.features",
    ["SHOULD", "Types 100 to 105 are sent only to a client that listed their feature."],
    (talk) => {
      const known = workerFeatures();
      const unknown = (firstConfiguration(talk).features ?? []).filter((feature) => !known.includes(feature));
      ensure(unknown.length === 0, `The client names features that the protocol does not have: ${unknown.join(", ")}`);
    },
  ),
  check("announce.change", ["MUST", "May be sent again at any time, to change the tools."], async (talk) => {
    announcedTools(talk);
    const before = talk.frames.items.length;
    talk.program.command({ command: "announce", tools: ["echo", "slow"] });
    const { message } = await talk.nextConfiguration(before);
    ensure(message?.type === "configuration", "The frame is not a Configuration");
    const names = (message.body.tools ?? []).map(({ name }) => name).toSorted();
    ensure(
      names.join() === "echo,slow",
      `The client was told to announce echo and slow, but announced ${names.join()}`,
    );
  }),
];

/** How a client joins a room that does not have a worker yet. */
export const waitingChecks: readonly Check<ClientTalk>[] = [
  check(
    "join.waits",
    [
      "MUST",
      "LiveKit keeps no messages for participants that join later: wait until the `agent` participant is there, and send Configuration again when another agent joins.",
    ],
    async (talk) => {
      await talk.program.next("joined", () => true, STARTS_WITHIN_MS);
      await talk.startWorker();
      await talk.nextConfiguration(0, 15_000);
    },
  ),
];
