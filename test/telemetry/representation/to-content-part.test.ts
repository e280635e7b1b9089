import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/lib/json.ts";
import { toStoredBlock } from "../../../src/llm/to-stored-block.ts";
import { toContentPart } from "../../../src/telemetry/representation/to-message-parts.ts";
import { problemsBy } from "./part-problems.ts";

const image = (source: JsonObject): JsonObject => ({ type: "image", source });
const CASES: readonly (readonly [string, JsonObject, JsonObject])[] = [
  ["text", { type: "text", text: "Hello." }, { type: "text", content: "Hello." }],
  ["thinking", { type: "thinking", thinking: "Hm", signature: "s" }, { type: "reasoning", content: "Hm" }],
  [
    "redacted thinking",
    { type: "redacted_thinking", data: "EmwK" },
    { type: "reasoning", content: "", redacted: true },
  ],
  ["a compaction", { type: "compaction", content: "So far…" }, { type: "compaction", content: "So far…" }],
  ["a compaction that failed", { type: "compaction", content: null }, { type: "compaction" }],
  [
    "an upload",
    { type: "container_upload", file_id: "file_1" },
    { type: "file", modality: "document", file_id: "file_1" },
  ],
  [
    "an image's bytes",
    image({ type: "base64", media_type: "image/png", data: "iVBO" }),
    { type: "blob", modality: "image", mime_type: "image/png", content: "iVBO" },
  ],
  [
    "an image elsewhere",
    image({ type: "url", url: "https://example.com/a.png" }),
    { type: "uri", modality: "image", uri: "https://example.com/a.png" },
  ],
  [
    "an image's file",
    image({ type: "file", file_id: "file_2" }),
    { type: "file", modality: "image", file_id: "file_2" },
  ],
  [
    "a document's text",
    { type: "document", source: { type: "text", media_type: "text/plain", data: "Hé" } },
    { type: "blob", modality: "document", mime_type: "text/plain", content: "SMOp" },
  ],
  ["a block that is not known", { type: "hologram", frames: 3 }, { type: "hologram", frames: 3 }],
  ["one that lacks its file", { type: "container_upload" }, { type: "container_upload" }],
  ["one that is named as a part and is none", { type: "blob", bytes: "x" }, { type: "anthropic.blob", bytes: "x" }],
];

test.each(CASES)("%s becomes a part", (_, raw, part) => {
  const shown = toContentPart(toStoredBlock(raw));

  expect(shown).toEqual(part);
  expect(problemsBy("content-part.json", shown)).toEqual([]);
});
