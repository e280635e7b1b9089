import { expect, test } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { toolResult, type ToolResultParts } from "../../../src/protocol/tool-result.ts";
import { failure, toModelAnswer } from "../../../src/tool/outcome.ts";
import { mediaTypeOf } from "../../../src/tool/results/media-type.ts";
import { readFailed, readReturned } from "../../../src/tool/results/read-result.ts";
import { GIF, JPEG, PDF, PNG, pngOf, pngOfBytes, WEBP } from "../../support/pictures.ts";

const read = (parts: object) => readReturned(toolResult(parts as ToolResultParts));
const image = (data: unknown, more: object = {}) => ({ type: "image", source: { data, ...more } });

test("bytes are extracted from a result, and its blocks refer to them by content", () => {
  const { outcome, media } = read({
    content: [
      { type: "text", text: "The plan." },
      image(PNG, { type: "base64", media_type: "image/jpeg" }),
      { type: "document", title: "Offer", source: { data: Buffer.from(PDF).toString("base64") } },
    ],
  });

  expect(media.map(({ mediaType, bytes }) => [mediaType, bytes.length])).toEqual([
    ["image/png", PNG.length],
    ["application/pdf", PDF.length],
  ]);
  const sourceOf = (index: number) => ({
    type: "media",
    id: media[index]?.id,
    media_type: media[index]?.mediaType,
    size: media[index]?.bytes.length,
  });
  expect(outcome).toEqual({
    state: "success",
    result: { value: 'The plan.\n[image/png, 1 kB]\n[application/pdf, "Offer", 1 kB]' },
    content: [
      { type: "text", text: "The plan." },
      { type: "image", source: sourceOf(0) },
      { type: "document", title: "Offer", source: sourceOf(1) },
    ],
  });
});

test.each([
  ["image/png", PNG],
  ["image/jpeg", JPEG],
  ["image/gif", GIF],
  ["image/webp", WEBP],
])("%s is recognized by its bytes", (mediaType, bytes) => {
  expect(mediaTypeOf(bytes)).toEqual({ kind: "image", mediaType });
});

test("a result with content is what the model reads first", () => {
  const { outcome } = read({ result: { floors: 2 }, content: [image(GIF)] });

  expect(outcome).toMatchObject({
    result: { floors: 2 },
    content: [{ type: "text", text: '{"floors":2}' }, { type: "image" }],
  });
});

test("the model does not read what is for display", () => {
  const { outcome } = read({ result: "Sunny", display: { icon: "sun", at: new Date(0) } });

  expect(outcome).toEqual({
    state: "success",
    result: { value: "Sunny" },
    display: { icon: "sun", at: "1970-01-01T00:00:00.000Z" },
  });
  expect(toModelAnswer(outcome, { timeoutMs: 1, maxBytes: 1_000 })).toEqual({ content: "Sunny", isError: false });
});

test("the texts in a result's blocks are truncated to the limit for one result", () => {
  const page = (title: string) => ({
    type: "search_result",
    source: "https://example.org",
    title,
    content: [{ type: "text", text: "x".repeat(60) }],
  });
  const { outcome } = read({ content: [page("One"), page("Two"), image(PNG)] });

  const { content } = toModelAnswer(outcome, { timeoutMs: 1, maxBytes: 100 });

  expect(content).toMatchObject([
    { content: [{ text: "x".repeat(60) }] },
    { content: [{ text: `${"x".repeat(40)}\n[truncated: 60 bytes, the first 40 are shown]` }] },
    { type: "image" },
  ]);
});

/** Reads the result of a call whose tool returned these parts in addition to `{ done: true }`. */
const endOf = (parts: object) => read({ result: { done: true }, ...parts });
const because = (where: string) => expect.stringContaining(`The tool has run, but its result cannot be used: ${where}`);

test.each([
  ["no picture", { content: [image(Buffer.from("<svg/>"))] }, "content[0].source: the bytes are not a PNG"],
  [
    "a picture that ends after its first bytes",
    { content: [image(Uint8Array.of(0xff, 0xd8, 0xff, 0xe0))] },
    "content[0].source: the bytes begin like image/jpeg, but cannot be read",
  ],
  [
    "a PDF that was cut off",
    { content: [{ type: "document", source: { data: PDF.slice(0, -4) } }] },
    "content[0].source: the bytes begin like a PDF, but have no end marker",
  ],
  ["a PDF as a picture", { content: [image(PDF)] }, 'content[0].type: expected "document" for application/pdf'],
  [
    "a link",
    { content: [{ type: "image", source: { type: "url", url: "https://example.org/a.png" } }] },
    "content[0].source.type: ",
  ],
  ["blank text", { content: [{ type: "text", text: " " }] }, "content[0].text: expected some text"],
  ["an unknown type", { content: [{ type: "video" }] }, "content[0].type: "],
  [
    "citations, which must be on or off in a whole talk",
    { content: [{ type: "document", source: { type: "text", data: "Hi" }, citations: { enabled: true } }] },
    "content[0]: ",
  ],
  ["too many pixels", { content: [image(pngOf(8_001, 10))] }, "content[0].source: the picture has 8001 × 10"],
  ["no list", { content: image(PNG) }, "content: expected a list"],
  ["a list to display", { display: [1] }, "display: expected a map"],
])("a result with %s is an error that contains it, together with the usable parts", (_name, parts, where) => {
  expect(endOf(parts)).toEqual({
    outcome: {
      state: "error",
      errorCode: "execution_error",
      errorMessage: because(where),
      result: { done: true },
    },
    media: [],
  });
});

const { mediaBytes, displayBytes } = LIMITS;

test.each([
  [
    { content: [image(PNG), image(pngOfBytes(mediaBytes + 1))] },
    `content[1].source: expected at most ${mediaBytes} bytes, got ${mediaBytes + 1}`,
  ],
  [
    { content: [1, 2, 3].map(() => image(pngOfBytes(mediaBytes))) },
    `content: expected at most ${LIMITS.contentBytes} bytes in total, got ${3 * mediaBytes}`,
  ],
  [{ content: Array.from({ length: 21 }, () => image(PNG)) }, "content: expected at most 20 content blocks, got 21"],
  [{ display: { text: "x".repeat(displayBytes) } }, "display: "],
])("a result that is too large is an error that contains the limit (%#)", (parts, where) => {
  expect(endOf(parts)).toMatchObject({ outcome: { errorCode: "result_too_large", errorMessage: because(where) } });
});

test("a return value without toolResult stays unchanged", () => {
  const likeContent = { content: [{ type: "image" }], display: 1 };

  expect(readReturned(likeContent)).toEqual({ outcome: { state: "success", result: likeContent }, media: [] });
});

test("broken pictures of the maximum size delay nobody", () => {
  const broken = new Uint8Array(LIMITS.mediaBytes);
  broken.set([0xff, 0xd8]);
  const begun = performance.now();

  const types = Array.from({ length: 8 }, () => mediaTypeOf(broken));

  expect(types.filter((type) => !("fault" in type))).toEqual([]);
  // If it took one step per byte, detecting the type of each of these would take a second.
  expect(performance.now() - begun).toBeLessThan(1_000);
});

test("a JPEG whose EXIF repeatedly claims tens of thousands of entries delays nobody", () => {
  const segment = Buffer.alloc(65_537);
  segment.set([0xff, 0xe1, 0xff, 0xff]);
  segment.write("Exif\0\0MM\0*\0\0\0\b\xff\xff", 4, "latin1");
  const rest = JPEG.subarray(2);
  const jpeg = Buffer.concat([JPEG.subarray(0, 2), ...Array.from({ length: 40 }, () => segment), rest]);
  const begun = performance.now();

  const types = Array.from({ length: 16 }, () => mediaTypeOf(jpeg));

  expect(types).toEqual(types.map(() => ({ kind: "image", mediaType: "image/jpeg" })));
  expect(performance.now() - begun).toBeLessThan(1_000);
});

const nested = (depth: number): unknown => (depth === 0 ? 1 : { m: nested(depth - 1) });
const MAX_LENGTH = 10 * 1024 * 1024;
const USELESS = "The tool has run, but its result cannot be used: ";

test.each([
  ["a result", () => readReturned(nested(29)), `result${".m".repeat(28)}: deeper than 28 levels`],
  ["a long result", () => readReturned(Array.from({ length: 45_001 }, () => 1)), "result[44999]: over 45000 values"],
  ["a text", () => readReturned({ text: "x".repeat(MAX_LENGTH + 1) }), `result: over ${MAX_LENGTH} characters of JSON`],
  [
    "a list of bytes",
    () => readReturned([1, 2].map(() => new Uint8Array(MAX_LENGTH / 2 + 1))),
    `result: over ${MAX_LENGTH} characters of JSON`,
  ],
  [
    "a content of texts",
    () => read({ content: [1, 2].map(() => ({ type: "text", text: "x".repeat(MAX_LENGTH / 2 + 1) })) }),
    `content: over ${MAX_LENGTH} characters of text`,
  ],
  ["a part", () => read({ result: { ["k".repeat(257)]: 1 } }), "result: a key is longer than 256 bytes"],
  ["a display", () => read({ display: nested(29) }), `display${".m".repeat(28)}: deeper than 28 levels`],
])("%s that would have to be truncated fails the call with the location", (_, toRead, message) => {
  const { outcome } = toRead();

  expect(outcome).toEqual({ state: "error", errorCode: "result_too_large", errorMessage: USELESS + message });
});

test("a client's details about a failure are left out, and mentioned, if they would have to be truncated", () => {
  const failed = failure("no_paper", "No paper");

  expect(readFailed(failed, { tray: 2 })).toEqual({ ...failed, result: { tray: 2 } });
  expect(readFailed(failed, nested(29))).toEqual({
    ...failed,
    errorMessage: `No paper (result dropped: result${".m".repeat(28)}: deeper than 28 levels)`,
  });
});

test.each([
  ["a result", () => readReturned({ rows: [{ mean: NaN }] }), "result.rows[0].mean: NaN cannot be represented in JSON"],
  ["a part", () => read({ result: { job: Promise.resolve() } }), "result.job: a Promise has no"],
  ["a display", () => read({ display: { n: 2n ** 64n } }), "display.n: too large for a number, send it as a string"],
])("%s that would be stored differently fails the call with the location", (_, toRead, message) => {
  const { outcome } = toRead();

  expect(outcome).toMatchObject({
    state: "error",
    errorCode: "execution_error",
    errorMessage: expect.stringContaining(USELESS + message),
  });
});
