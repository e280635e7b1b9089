import { expect, test } from "vitest";
import { connect, type ClientTool, type ConnectOptions } from "../../src/client/index.ts";
import { MemoryRoom } from "../support/doubles/memory-transport.ts";
import { openClient } from "./open-client.ts";

const TOOL = { name: "echo", description: "Echoes.", input: { type: "object" }, run: () => 1 };

test.each([
  [{ ...TOOL, timeout: 5 }, '"timeout" is not a field of registerTool. Did you mean "timeoutMs"?'],
  [{ ...TOOL, scope: "rom" }, 'Tool "echo": scope: expected one of own, room'],
  [{ ...TOOL, execution: "clinet" }, 'Tool "echo": execution: expected one of client, either'],
  [{ name: "echo", description: "", parameters: {}, execute: () => 1 }, 'Did you mean "input"? "execute" is not'],
])("a misspelt tool is refused: %j", async (tool, message) => {
  const { parley } = await openClient();

  expect(() => parley.registerTool(tool as unknown as ClientTool)).toThrow(message);
});

test("an event that does not exist is refused", async () => {
  const { parley } = await openClient();

  expect(() => parley.on("sentance" as "sentence", () => {})).toThrow(
    new TypeError('"sentance" is not an event. Did you mean "sentence"?'),
  );
});

test.each([
  [{ features: ["permission"] }, '"permission" is not a feature. Did you mean "permissions"?'],
  [{ waitForAgent: 0 }, '"waitForAgent" is not a field of connect\'s options. Did you mean "waitForAgentMs"?'],
])("misspelt options are refused: %j", async (options, message) => {
  await expect(connect(new MemoryRoom().transport, options as ConnectOptions)).rejects.toThrow(new TypeError(message));
});
