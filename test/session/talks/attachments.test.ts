import { expect, test } from "vitest";
import type { Attachment } from "../../../src/client/index.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import { openSdk } from "../../client/open-sdk.ts";
import { TestAgent } from "../../support/agent.ts";
import { messagesTo } from "../../support/model-view.ts";
import { PDF, PNG, pngOfBytes } from "../../support/pictures.ts";

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: base64(PNG) } };
const paper = {
  type: "document",
  title: "offer.pdf",
  source: { type: "base64", media_type: "application/pdf", data: base64(PDF) },
};
const list = {
  type: "document",
  title: "list.txt",
  source: { type: "text", media_type: "text/plain", data: "Milk" },
};
const attachments: readonly Attachment[] = [
  new Blob([PNG]),
  { data: PDF, name: "offer.pdf", mediaType: "image/jpeg" },
  new File(["Milk"], "list.txt", { type: "text/plain" }),
];

test("pictures, PDFs and texts reach the model with the message, and are available to the next worker", async () => {
  await using agent = await TestAgent.start();
  const { parley } = await openSdk(agent, "ana");
  agent.model.script([reply([text("A cat.")]), reply([text("Still a cat.")])]);

  await parley.ask("What is this?", { attachments });
  expect(messagesTo(agent)[0]?.content).toMatchObject([picture, paper, list, { text: "What is this?" }]);

  await agent.leave();
  await agent.join();
  await parley.whenConnected(10_000);
  await parley.ask("And now?");
  expect(messagesTo(agent)[0]?.content).toMatchObject([picture, paper, list, { text: "What is this?" }]);
  expect(agent.model.rejections).toEqual([]);
});

test("a picture too long for a packet arrives as a byte stream, and needs no words", async () => {
  await using agent = await TestAgent.start();
  const { parley } = await openSdk(agent, "ana");
  agent.model.script([reply([text("A cat.")])]);

  const answer = await parley.ask("", { attachments: [{ data: pngOfBytes(400_000) }] });

  expect(answer.text).toBe("A cat.");
  // The answer does not wait until the picture is stored, so the row may come later.
  const stored = () => agent.sql`select length(bytes) as size, participant_identity from media`;
  await expect.poll(stored).toEqual([{ size: 400_000, participant_identity: "ana" }]);
});

test("a message that waits for its turn keeps its attachments across workers", async () => {
  await using agent = await TestAgent.start();
  const { parley } = await openSdk(agent, "ana");
  agent.model.script([reply([text("One. And so on, and so on.")], { slow: 100, chunking: 4 })]);
  await parley.sendText("Go").acknowledged;
  await parley.sendText("What is this?", { attachments: [{ data: PNG }] }).acknowledged;
  expect(await agent.sql`select from waiting_messages`).toHaveLength(1);

  await agent.leave();
  agent.model.script([reply([text("A cat.")])]);
  await agent.join();
  await expect.poll(() => agent.model.requests).toHaveLength(2);

  expect(messagesTo(agent).at(-1)?.content.slice(-2)).toMatchObject([picture, { text: "What is this?" }]);
});

test.each([
  [101, { data: new Uint8Array(Buffer.from("<svg/>")) }, "[0].source: the bytes are not a PNG"],
  [413, { data: pngOfBytes(LIMITS.mediaBytes + 1) }, "[0].source: expected at most 3145728 bytes, got 3145729"],
])(
  "a message with a bad attachment is refused with error %i and its id, and no turn starts",
  async (code, bad, why) => {
    await using agent = await TestAgent.start();
    const { parley } = await openSdk(agent, "ana");
    const errors: unknown[] = [];
    parley.on("error", (error) => errors.push(error));

    const { messageId, acknowledged } = parley.sendText("What is this?", { attachments: [bad] });
    await expect(acknowledged).rejects.toThrow(`user_message.attachments${why}`);

    expect(errors).toMatchObject([
      { code, originatingId: messageId, message: expect.stringContaining(`user_message.attachments${why}`) },
    ]);
    expect(await agent.sql`select from turns`).toHaveLength(0);
    expect(await agent.sql`select from media`).toHaveLength(0);
  },
);

test("a message too large for an envelope is not sent", async () => {
  await using agent = await TestAgent.start();
  const { parley } = await openSdk(agent, "ana");

  const { acknowledged } = parley.sendText("Look", { attachments: [{ data: pngOfBytes(LIMITS.envelopeBytes) }] });

  await expect(acknowledged).rejects.toMatchObject({ code: "too_large" });
});

test("an attachment meant only for the client is not sent to the model", async () => {
  await using agent = await TestAgent.start();
  const participant = await agent.client("ana");
  agent.model.script([reply([text("Hello.")])]);

  await participant.send({
    type: "user_message",
    body: { id: "m1", content: "Hi", attachments: [{ kind: "sticker", id: 7 }] },
  });
  await participant.answerTo("m1");

  expect(messagesTo(agent)[0]?.content).toMatchObject([{ type: "text", text: "Hi" }]);
});
