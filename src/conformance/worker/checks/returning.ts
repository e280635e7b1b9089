import { type Check, check as make, ensure } from "../../check.ts";
import type { Frame } from "../../wire/frame.ts";
import { anyInput, withTools } from "../kit-client.ts";
import type { WorkerTalk } from "../worker-talk.ts";

const check = make<WorkerTalk>;
const REPLAY =
  "then, once more, the messages after that stanza that it still holds, in order and with the original stanzaIds and ids; then its Configuration and your open requests.";
const OFFER = withTools({ name: "kit_echo", description: "Gives back its input.", inputSchema: anyInput });

const isWorkers = ({ stanzaId }: Frame) => stanzaId < 0;

/** A client that rejoins with the same identity. */
export const returningChecks: readonly Check<WorkerTalk>[] = [
  check("return.replay", ["MUST", REPLAY], async (talk) => {
    const first = talk.client;
    await first.next("configuration");
    const lastSequenceSeen = Math.min(...first.frames.items.map(({ stanzaId }) => stanzaId));
    const answer = await first.answered(await first.say("Remember this"));
    await first[Symbol.asyncDispose]();
    const again = await talk.join("alice");
    await again.configure({ ...OFFER, lastSequenceSeen });
    const isSentence = ({ message }: Frame) =>
      message?.type === "assistant_sentence" && message.body.previousId === answer;
    const before = first.frames.items.filter(isSentence).map(({ stanzaId }) => stanzaId);
    const after = again.frames.items.filter(isSentence).map(({ stanzaId }) => stanzaId);
    ensure(
      before.join() === after.join(),
      `The sentences were stanzas ${before.join()}, but were resent as ${after.join()}`,
    );
  }),
  check("return.nothing-seen", ["MUST", "The last worker stanza you saw; its sign is ignored."], async (talk) => {
    const again = await talk.join("erin");
    await again.configure(OFFER);
    await again.answered(await again.say("Hello from Erin"));
    const seen = Math.max(...again.frames.items.filter(isWorkers).map(({ stanzaId }) => -stanzaId));
    await again[Symbol.asyncDispose]();
    const back = await talk.join("erin");
    await back.configure({ ...OFFER, lastSequenceSeen: seen });
    const old = back.frames.items.find(({ stanzaId }) => stanzaId < 0 && -stanzaId <= seen);
    ensure(old === undefined, `The worker resent stanza ${old?.stanzaId}, which the client had received`);
  }),
  check("return.open-call", ["MUST", "for the same identity; the same request is then sent again."], async (talk) => {
    const frank = await talk.join("frank");
    await frank.configure(OFFER);
    await frank.say("use kit_echo {}");
    const { id } = await frank.next("tool_use_request", ({ toolName }) => toolName === "kit_echo", 10_000);
    await frank[Symbol.asyncDispose]();
    const back = await talk.join("frank");
    await back.configure(OFFER);
    await back.next("tool_use_request", (body) => body.id === id);
    await back.answer(id, { success: true });
    const { status } = await back.next(
      "tool_call_state",
      (state) => state.id === id && state.status !== "running" && state.status !== "pending",
    );
    ensure(status === "success", `The call ended as ${status}`);
  }),
];
