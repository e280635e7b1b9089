import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { decodePacketLine, encodePacketLine, PACKETS_USAGE } from "../../src/cli/packets.ts";
import { goldens } from "./golden.ts";

const CLI = fileURLToPath(new URL("../../src/cli/parley.ts", import.meta.url));

test.each(goldens)("a $type is decoded to JSON from hex and base64, and encoded again", ({ hex, ...fields }) => {
  const line = decodePacketLine(hex);

  expect(JSON.parse(line)).toEqual(fields);
  expect(decodePacketLine(Buffer.from(hex, "hex").toString("base64"))).toBe(line);
  expect(decodePacketLine(Buffer.from(hex, "hex").toString("base64url"))).toBe(line);
  expect(encodePacketLine(line)).toBe(hex);
});

test("an ErrorMessage from an older client, which has no id, is printed", () => {
  const body = { code: 101, message: "m", severity: 2, recoverable: true, originatingId: "msg_9" };
  const hex = encodePacketLine(JSON.stringify({ stanzaId: 1, conversationId: "c", type: 1, body }));

  expect(JSON.parse(decodePacketLine(hex))).toMatchObject({ type: "error_message", body });
});

test("an unknown type is printed by its number", () => {
  expect(JSON.parse(decodePacketLine("83a87374616e7a6149640 1a47479706532a4626f647980"))).toMatchObject({
    unknownType: 50,
  });
});

test("an error in one line does not stop the next", () => {
  const input = `zz!\n\n90\n${goldens[0]?.hex}\n`;

  const { stdout, status } = spawnSync(process.execPath, [CLI, "decode"], { input, encoding: "utf8" });

  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => Object.keys(JSON.parse(line) as object)[0]),
  ).toEqual(["error", "error", "stanzaId"]);
  expect(status).toBe(0);
});

test("wrapped hex, as on the protocol page, is joined", () => {
  const blocks = goldens.map(({ hex }) => hex.replaceAll(/.{80}/g, "$&\n"));

  const { stdout } = spawnSync(process.execPath, [CLI, "decode"], { input: blocks.join("\n"), encoding: "utf8" });

  expect(stdout).toBe(goldens.map(({ hex }) => `${decodePacketLine(hex)}\n`).join(""));
});

test("a packet that was cut off is reported before the next one", () => {
  const hex = goldens[0]?.hex ?? "";
  const input = `${hex.slice(0, 80)}\n${hex}\n${hex.slice(0, 60)}`;

  const { stdout } = spawnSync(process.execPath, [CLI, "decode"], { input, encoding: "utf8" });

  const cut = decodePacketLine(hex.slice(0, 60));
  expect(stdout).toBe(`${decodePacketLine(hex.slice(0, 80))}\n${decodePacketLine(hex)}\n${cut}\n`);
});

test.each(["decode", "encode"])("parley %s --help describes its input, without waiting for stdin", (command) => {
  const { stdout, status } = spawnSync(process.execPath, [CLI, command, "--help"], { encoding: "utf8" });

  expect({ stdout, status }).toEqual({ stdout: `${PACKETS_USAGE}\n`, status: 0 });
});

test("parley decode refuses unknown flags", () => {
  expect(spawnSync(process.execPath, [CLI, "decode", "--base64"], { encoding: "utf8" })).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("--base64"),
  });
});

test.each([
  "nope",
  "7",
  "{}",
  '{"stanzaId":1,"conversationId":"","type":"user_message"}',
  '{"stanzaId":1,"conversationId":"","type":99}',
])("the line %s cannot be encoded", (line) => {
  expect(JSON.parse(encodePacketLine(line))).toEqual({ error: expect.any(String) });
});

test("an unknown command prints the usage", () => {
  expect(spawnSync(process.execPath, [CLI, "open"], { encoding: "utf8" })).toMatchObject({ status: 2, stdout: "" });
});
