import { expect, test } from "vitest";
import { connect, type ClientTool, type ConnectOptions, type Parley, toolResult } from "../../src/client/index.ts";
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

test.each<[string, (parley: Parley) => unknown, string]>([
  [
    "sendText",
    (p) => p.sendText("Hi", { attachment: [] } as object),
    '"attachment" is not a field of sendText\'s options. Did you mean "attachments"?',
  ],
  [
    "ask",
    (p) => p.ask("Hi", { timeout: 5 } as object),
    '"timeout" is not a field of ask\'s options. Did you mean "timeoutMs"?',
  ],
  [
    "an attachment",
    (p) => p.sendText("Hi", { attachments: [{ text: "a", nmae: "b" } as never] }).acknowledged,
    '"nmae" is not a field of an attachment. Did you mean "name"?',
  ],
  [
    "stop",
    (p) => p.stop({ stoptype: "speech" } as object),
    '"stoptype" is not a field of control_stop. Did you mean "stopType"?',
  ],
  [
    "vary",
    (p) => p.vary({ targetId: "m", mode: "edit", content: "Hi" } as never),
    '"content" is not a field of control_variation.',
  ],
  [
    "respondToPermission",
    (p) => p.respondToPermission("p", "once", { edited: {} } as object),
    '"edited" is not a field of respondToPermission\'s options. Did you mean "editedInput"?',
  ],
  [
    "toolResult",
    () => toolResult({ contnet: [] } as object),
    '"contnet" is not a field of toolResult. Did you mean "content"?',
  ],
])("a misspelt field of %s is refused", async (_, act, message) => {
  const { parley } = await openClient();

  await expect(async () => act(parley)).rejects.toThrow(message);
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
  [{ language: "german please" }, 'language: expected a BCP 47 tag such as en-GB, got "german please"'],
])("misspelt options are refused: %j", async (options, message) => {
  await expect(connect(new MemoryRoom().transport, options as ConnectOptions)).rejects.toThrow(new TypeError(message));
});
