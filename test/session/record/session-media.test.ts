import { expect, test } from "vitest";
import type { HistoryMessage } from "../../../src/conversation/history.ts";
import { SessionMedia } from "../../../src/session/record/session-media.ts";
import { PNG } from "../../support/pictures.ts";

const showing = (id: string): HistoryMessage[] => [
  {
    role: "user",
    blocks: [
      {
        blockType: "image",
        textContent: null,
        content: { type: "image", source: { type: "media", id, media_type: "image/png", size: PNG.length } },
      },
    ],
  },
];

test("a picture stays in memory until it is stored and the model is called without it", async () => {
  const loaded: string[] = [];
  const storing = Promise.withResolvers<void>();
  const media = new SessionMedia({
    recorder: { storeMedia: () => storing.promise },
    archive: {
      loadMedia: async (ids) => {
        loaded.push(...ids);
        return ids.map((id) => ({ id, mediaType: "image/png", bytes: PNG }));
      },
    },
  });
  const kept = media.keep({ callId: null, from: "ann", media: [{ id: "cat", mediaType: "image/png", bytes: PNG }] });

  expect(media.of([])).toBeUndefined();
  await media.of(showing("cat"));
  expect(loaded).toEqual([]);
  storing.resolve();
  await kept;
  expect(media.of([])).toBeUndefined();
  expect([...((await media.of(showing("cat"))) ?? [])]).toEqual([["cat", Buffer.from(PNG).toString("base64")]]);
  expect(loaded).toEqual(["cat"]);
});
