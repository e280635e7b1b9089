import { createId } from "../../../lib/id.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { MESSAGES } from "../../../protocol/messages/messages.ts";
import { type Check, check as make, ensure } from "../../check.ts";
import type { KitClient } from "../kit-client.ts";
import type { WorkerTalk } from "../worker-talk.ts";

const check = make<WorkerTalk>;
/** The smallest PNG. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
/** Bytes that are neither a picture nor a document. */
const NO_PICTURE = new TextEncoder().encode("I am no picture");

const WORDS = { type: "text", text: "The view:" };
const VIEW = { type: "image", source: { data: PNG } };

/** Sends a message with attachments. @returns the message's id */
async function attach(client: KitClient, content: string, attachments: readonly object[]): Promise<string> {
  const id = createId();
  await client.sendWrong({ type: MESSAGES.user_message.number, body: { id, content, attachments } });
  return id;
}

/** Answers a call with the given blocks. @returns how the call ended */
async function show(talk: WorkerTalk, ...content: readonly object[]) {
  const { id } = await talk.call("kit_echo");
  const body = { id, success: true, result: { seen: true }, content };
  await talk.client.sendWrong({ type: MESSAGES.tool_use_result.number, body });
  return talk.ended(id);
}

/** Attachments, and results that contain content for the model or a display for people. */
export const contentChecks: readonly Check<WorkerTalk>[] = [
  check(
    "content.attached",
    ["MUST", "with the bytes of a picture or a PDF, or `{text, name?}`. A map with neither is your own."],
    async ({ client }) => {
      const attachments = [{ data: PNG, name: "view.png" }, { text: "Milk", name: "notes.txt" }, { ticket: 17 }];
      await client.answered(await attach(client, "Hello with a picture", attachments));
    },
  ),
  check("content.attached-alone", ["MUST", "With attachments, `content` may be empty."], async ({ client }) => {
    await client.answered(await attach(client, "", [{ data: PNG }]));
  }),
  check(
    "content.attached-refused",
    [
      "MUST",
      "A message with an attachment that cannot be shown is refused as a whole, with error 101, or 413 if the attachment is too large.",
    ],
    async ({ client }) => {
      const id = await attach(client, "Hello with something else", [{ data: PNG }, { data: NO_PICTURE }]);
      await client.next("error_message", ({ code, originatingId }) => code === 101 && originatingId === id);
      await client.settleAnswers();
      ensure(!client.isAnswered(id), "The worker also answered the message");
    },
  ),
  check(
    "content.shown",
    ["MUST", "From a client: [content blocks](#content) that the model is shown after `result`."],
    async (talk) => {
      const { status, error } = await show(talk, WORDS, VIEW);
      ensure(status === "success", `The call ended as ${status}: ${error}`);
    },
  ),
  check(
    "content.refused",
    ["MUST", "If a result contains a block that cannot be shown, the call ends with an error that names the block."],
    async (talk) => {
      const { status, error = "" } = await show(talk, WORDS, { type: "image", source: { data: NO_PICTURE } });
      ensure(status === "error", `The call ended as ${status}`);
      ensure(error.includes("1"), `The error does not name the block with the index 1: ${error}`);
    },
  ),
  check("content.displayed", ["MUST", "What clients may show people. The model doesn't see it."], async (talk) => {
    const { id } = await talk.call("kit_echo");
    await talk.client.answer(id, { success: true, result: { seen: true }, display: { title: "for people" } });
    const { status, output = "" } = await talk.ended(id);
    ensure(status === "success", `The call ended as ${status}`);
    ensure(!output.includes("for people"), `The display is in the result: ${output}`);
  }),
  check("content.display-limit", ["MUST", "At most 128 KiB of JSON."], async (talk) => {
    const { id } = await talk.call("kit_echo");
    const display = { text: "x".repeat(LIMITS.displayBytes) };
    await talk.client.answer(id, { success: true, result: { seen: true }, display });
    const { status } = await talk.ended(id);
    ensure(status === "error", `A call with a longer display ended as ${status}`);
  }),
  check("content.no-bytes-back", ["MUST", "The worker sends no bytes back."], async (talk) => {
    await show(talk, VIEW);
    const given = [PNG, PNG.toString("base64")];
    const back = talk.client.frames.items.find(({ bytes }) => given.some((each) => Buffer.from(bytes).includes(each)));
    ensure(back === undefined, `A ${back?.message?.type} contains the picture's bytes`);
  }),
];
