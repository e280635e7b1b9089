import { expect, test } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { openClient } from "../open-client.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { compileInput } from "../../../src/client/tools/tool-input.ts";

test("a plain JSON Schema is announced unchanged, and input is checked against it", async () => {
  const { room, parley } = await openClient();
  const input = { type: "object", properties: { page: { type: "integer", minimum: 1 } }, required: ["page"] };
  parley.registerTool({ name: "scan", description: "Scans.", input, run: ({ page }) => page });
  await parley.whenConnected(1_000);

  room.request({ id: "r1", toolName: "scan", parameters: { page: 0 } });
  room.request({ id: "r2", toolName: "scan", parameters: { page: 1 } });

  expect(room.all("configuration").at(-1)?.tools).toMatchObject([{ inputSchema: input }]);
  expect(await room.result("r1")).toMatchObject({
    errorCode: "invalid_parameters",
    errorMessage: 'Invalid parameter "page": expected a number from 1',
  });
  expect(await room.result("r2")).toMatchObject({ success: true, result: { value: 1 } });
});

test("a schema that no message can contain is refused, with the location", () => {
  let deep: JsonObject = { type: "string" };
  for (let level = 0; level < 28; level++) deep = { items: deep };

  expect(() => compileInput("scan", { type: "object", properties: { a: deep } })).toThrow(
    `Tool "scan": the input schema cannot be used: it.properties.a${".items".repeat(26)}: deeper than 28 levels`,
  );
});

test("a parameter may have the name of a property that every object inherits", async () => {
  const { parse } = compileInput("car", z.object({ constructor: z.string().optional() }));

  expect(await parse({})).toEqual({ value: {} });
  expect(await parse({ constructor: "Ferrari" })).toEqual({ value: { constructor: "Ferrari" } });
});

test("a schema from zod/mini is passed as z.toJSONSchema(schema), and its input is typed", async () => {
  const { room, parley } = await openClient();
  const input = mini.toJSONSchema(mini.object({ page: mini.number().check(mini.minimum(1)) }));
  parley.registerTool({ name: "scan", description: "Scans.", input, run: ({ page }) => page + 1 });
  await parley.whenConnected(1_000);

  room.request({ id: "r1", toolName: "scan", parameters: { page: 0 } });
  room.request({ id: "r2", toolName: "scan", parameters: { page: 1 } });

  expect(room.all("configuration").at(-1)?.tools).toMatchObject([{ inputSchema: { required: ["page"] } }]);
  expect(await room.result("r1")).toMatchObject({ errorMessage: expect.stringContaining('"page"') });
  expect(await room.result("r2")).toMatchObject({ success: true, result: { value: 2 } });
});

test("a bare schema from zod/mini is refused, with what to do", async () => {
  const { parley } = await openClient();
  const input = mini.object({ page: mini.number() }) as never;

  expect(() => parley.registerTool({ name: "scan", description: "", input, run: () => 0 })).toThrow("z.toJSONSchema");
});

test("an asynchronous refinement is awaited, and its error contains the field", async () => {
  const { room, parley } = await openClient();
  const input = z.object({ at: z.array(z.string().refine(async (text) => text !== "b", "not b")) });
  parley.registerTool({ name: "scan", description: "", input, run: () => 0 });
  await parley.whenConnected(1_000);

  room.request({ id: "r1", toolName: "scan", parameters: { at: ["a", "b"] } });

  expect(await room.result("r1")).toMatchObject({ errorMessage: 'Invalid parameter "at.1": not b' });
});
