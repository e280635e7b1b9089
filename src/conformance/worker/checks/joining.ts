import { LIMITS } from "../../../protocol/limits.ts";
import { workerFeatures } from "../../../protocol/messages/messages.ts";
import { type Check, check as make, ensure } from "../../check.ts";
import type { Frame } from "../../wire/frame.ts";
import { anyInput, withTools } from "../kit-client.ts";
import type { WorkerTalk } from "../worker-talk.ts";

const check = make<WorkerTalk>;
const OWN_CONFIGURATION =
  "The worker joins and sends its Configuration to each participant: its features, which are all those below, the names and descriptions of its tools, and whether it listens and speaks.";
const BAD_TOOL =
  "An invalid announcement is ignored, and answered with an error 101 that names the tool and the reason; the others count.";

const isConfiguration = ({ message }: Frame) => message?.type === "configuration";

/** A client that has not sent anything yet. */
export const workerJoiningChecks: readonly Check<WorkerTalk>[] = [
  check("worker.configuration", ["MUST", OWN_CONFIGURATION], async ({ client }) => {
    await client.next("configuration", () => true, 10_000);
  }),
  check("worker.features", ["MUST", OWN_CONFIGURATION], ({ client }) => {
    const [{ features = [] } = {}] = client.all("configuration");
    const missing = workerFeatures().filter((feature) => !features.includes(feature));
    ensure(missing.length === 0, `The worker does not name the features ${missing.join(", ")}`);
  }),
  check(
    "worker.answers-configuration",
    ["MUST", "The worker answers with an Ack, then with its own Configuration."],
    async ({ client }) => {
      const before = client.frames.items.length;
      await client.configure();
      const came = client.frames.items.slice(before);
      const ack = came.findIndex(({ message }) => message?.type === "acknowledgement");
      ensure(ack !== -1 && ack < came.findIndex(isConfiguration), "The worker sent its Configuration before its Ack");
    },
  ),
  check("worker.ack-stanza", ["MUST", "Its own stanzaId is 0."], async ({ client }) => {
    const { stanzaId } = await client.acknowledged(await client.send({ type: "audio_chunk", body: {} }));
    ensure(stanzaId === 0, `An Ack has the stanzaId ${stanzaId}`);
  }),
  check(
    "worker.only-named-features",
    ["MUST", "Types 100 to 105 are sent only to a client that listed their feature."],
    async (talk) => {
      const { client } = talk;
      await client.configure({
        tools: [{ name: "kit_echo", description: "Gives back its input.", inputSchema: anyInput }],
      });
      const { id } = await talk.call("kit_echo", { text: "a" });
      await client.answer(id, { success: true, result: {} });
      await client.next("assistant_sentence", ({ isFinal }) => isFinal, 10_000);
      const types = ["tool_call_state", "permission_request", "tool_use_cancel", "block_event"] as const;
      const sent = types.filter((type) => client.all(type).length > 0);
      ensure(sent.length === 0, `The client named no feature, but got ${sent.join(", ")}`);
    },
  ),
];

/** Announcements of tools. */
export const announcingChecks: readonly Check<WorkerTalk>[] = [
  check("announce.bad-tool", ["MUST", BAD_TOOL], async (talk) => {
    const { client } = talk;
    const bad = { name: "not a valid name", description: "", inputSchema: anyInput };
    const good = { name: "kit_good", description: "Does nothing.", inputSchema: anyInput };
    await client.sendWrong({ type: 12, body: { features: [], tools: [bad, good] } });
    await client.next("error_message", ({ code }) => code === 101);
    const { id } = await talk.call("kit_good");
    await client.answer(id, { success: true, result: {} });
  }),
  check("announce.schema", ["MUST", "or `anyOf`, `oneOf` or `allOf` at the root."], async ({ client }) => {
    const before = client.all("error_message").length;
    const inputSchema = { type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] };
    await client.configure(withTools({ name: "kit_any_of", description: "", inputSchema }));
    const look = () =>
      client
        .all("error_message")
        .slice(before)
        .find(({ code }) => code === 101);
    const { message } = await client.frames.next(look, "an ErrorMessage 101");
    ensure(message.includes("kit_any_of"), `The error does not name the tool: ${message}`);
  }),
  check(
    "announce.too-many",
    ["MUST", "each tool after the 64th of the list: one error 101 says so,"],
    async ({ client }) => {
      const before = client.all("error_message").length;
      const names = Array.from({ length: LIMITS.announcedTools + 6 }, (_, index) => `kit_${index}`);
      const tools = names.map((name) => ({ name, description: "", inputSchema: anyInput }));
      // Not `send`, which would reject more than 64 tools.
      await client.sendWrong({ type: 12, body: { features: [], tools } });
      await client.frames.next(() => client.all("error_message")[before], "an ErrorMessage");
      await client.settle();
      const codes = client
        .all("error_message")
        .slice(before)
        .map(({ code }) => code);
      ensure(
        codes.join() === "101",
        `${names.length} tools were announced; expected one error 101, got ${codes.join(", ")}`,
      );
    },
  ),
  check("announce.withdrawn", ["MUST", "May be sent again at any time, to change the tools."], async ({ client }) => {
    await client.configure(withTools({ name: "kit_gone", description: "", inputSchema: anyInput }));
    await client.configure(withTools());
    await client.answered(await client.say("use kit_gone {}"));
    const asked = client
      .all("tool_use_request")
      .some((body) => body.toolName === "kit_gone" && body.execution !== "server");
    ensure(!asked, "The client got a request for a tool that it withdrew");
  }),
];
