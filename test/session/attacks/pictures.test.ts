import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { z } from "zod";
import { toolResult } from "../../../src/index.ts";
import { httpError, reply, type Step, text, toolUse } from "../../../src/model-server/step.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { announced } from "../../support/client-tool.ts";
import { messagesTo } from "../../support/model-view.ts";
import { PDF, PNG, pngOf } from "../../support/pictures.ts";

const of = (...parts: (string | Uint8Array)[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part))));
/** A PNG of 8,000 × 8,000 pixels, which take 256 MB when decoded. */
const bomb = of(
  pngOf(8_000, 8_000).subarray(0, 33),
  "\0\0\0\0IDAT",
  deflateSync(Buffer.alloc(8_000 * 1_001)),
  "\0\0\0\0",
);
const animated = of(
  "GIF89a",
  Buffer.alloc(7, 1),
  "!\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x01D\0".repeat(5_000),
);

/**
 * Each attack's name and bytes, and the worker's error message, or `undefined` if only the API can tell that it cannot
 * read the bytes.
 */
const FORMS: readonly [string, Uint8Array, string | undefined][] = [
  ["a PNG that is cut off after its size", PNG.subarray(0, 33), undefined],
  ["a PNG of 64 million pixels in 8 kB", bomb, undefined],
  ["a GIF of 5,000 frames", animated, undefined],
  ["a PDF that is a script", of("%PDF-1.4<script>alert(1)</script>%%EOF"), undefined],
  ["a PNG that is also a PDF", of(PNG, PDF), 'expected "image" for image/png'],
  ["a PNG of 100,000 pixels", pngOf(100_000, 1), "100000 × 1 pixels"],
  ["an SVG with a script", of("<svg><script>alert(1)</script></svg>"), "the bytes are not a PNG"],
  ["an archive", of("PK\x03\x04", Buffer.alloc(100)), "the bytes are not a PNG"],
  ["a private address", of("http://169.254.169.254/latest/meta-data/"), "the bytes are not a PNG"],
];

/** The API's errors for a picture or document. The last one does not say which block is wrong. */
const REFUSALS = [
  "messages.0.content.0.image.source.base64.data: Could not process image",
  "messages.2.content.0.document.source.base64.data: The PDF specified was not valid.",
  "messages.4.content.0.tool_result.content.0: Invalid data",
];

test.each(FORMS)(
  "%s ends no turn, whether it is in a message or in a result from a server's or a device's tool",
  async (...form) => {
    const [, data, refusal] = form;
    const content = [{ type: "image" as const, source: { data } }];
    const run = () => toolResult({ content });
    const camera = defineTool({ description: "D.", input: z.object({}), readOnly: true, run });
    await using agent = await TestAgent.start({ tools: { camera } });
    const eve = await agent.client("eve", { tools: [announced("scan")] });
    const [refused, next]: [string[], Step[]] = [[], []];
    agent.model.script(() => {
      if (!JSON.stringify(messagesTo(agent)).includes('"base64"')) return next.shift() ?? reply([text("Yes.")]);
      refused.push(REFUSALS[refused.length % REFUSALS.length] ?? "");
      return { ...httpError(400), message: refused.at(-1) } as Step;
    });
    const ask = async (words: string, ...steps: Step[]) => {
      next.push(...steps);
      return eve.answerTo(await eve.say(words));
    };

    await eve.send({ type: "user_message", body: { id: "m1", content: "Look", attachments: [{ data }] as never } });
    const answer =
      refusal === undefined ? eve.answerTo("m1") : eve.next("error_message").then(({ message }) => message);
    expect(await answer).toContain(refusal ?? "Yes.");
    expect(await ask("Use the camera", reply([toolUse("camera")]))).toBe("Yes.");
    const scanned = ask("Scan", reply([toolUse("scan")]));
    const { id } = await eve.next("tool_use_request", ({ toolName }) => toolName === "scan");
    await eve.answer(id, { success: true, content: content as never });
    expect(await scanned).toBe("Yes.");

    const before = refused.length;
    expect(await ask("Are you there?")).toBe("Yes.");
    await agent.leave();
    await agent.join();
    await eve.configure({});
    expect(await ask("And now?")).toBe("Yes.");
    expect(refused).toHaveLength(before);
    expect(agent.model.rejections).toEqual([]);
  },
);
