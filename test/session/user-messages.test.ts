import { expect, test } from "vitest";
import { AppError } from "../../src/errors/app-error.ts";
import { ParticipantState } from "../../src/session/participants/participant-state.ts";
import { UserMessages } from "../../src/session/user-messages.ts";
import { PNG } from "../support/pictures.ts";

test("nothing is kept from a picture whose message is refused", () => {
  const kept: unknown[] = [];
  const messages = new UserMessages({
    messageIds: [],
    admission: { text: () => true },
    worded: [],
    recorder: { storeMessage: async (message) => void kept.push(message) },
    media: { keep: async (given) => void kept.push(given) },
    outbox: { post: () => {}, postError: () => {} },
    participants: { present: [], withFeature: () => [] },
    add: () => {
      throw new AppError("queue_overflow", "Too many messages are waiting for an answer");
    },
    onQuestionAnswered: () => {},
    onSaid: () => {},
  });
  const ann = new ParticipantState({ identity: "ann", sid: "PA_1", isSip: false });
  const attachments = [{ data: Buffer.from(PNG).toString("base64") }];

  expect(() => messages.begin(ann, { id: "message", content: "", attachments })).toThrow("Too many messages");
  expect(kept).toEqual([]);
});
