import { expect, test } from "vitest";
import { parseOptions } from "../../../src/cli/talk/options.ts";
import { UsageError } from "../../../src/worker/settings/command-line.ts";

test("the defaults are a fresh room and identity, port 8080, and no folder", () => {
  const [first, second] = [parseOptions([], {}), parseOptions([], {})];

  expect(first).toMatchObject({ httpUrl: "http://127.0.0.1:8080", isJson: false, timeoutMs: 120_000 });
  expect(first?.folder).toBeUndefined();
  expect(first?.say).toEqual([]);
  expect(first?.room).not.toBe(second?.room);
  expect(first?.identity).not.toBe(second?.identity);
});

test("the port and the token's secret can come from the environment", () => {
  expect(parseOptions([], { HTTP_PORT: "9000", TOKEN_SECRET: "s" })).toMatchObject({
    httpUrl: "http://127.0.0.1:9000",
    tokenSecret: "s",
  });
});

test("flags override the environment", () => {
  const args = ["--http", "https://parley.example/", "--room", "r", "--identity", "i", "--say", "hi", "--json"];

  const options = parseOptions([...args, "--timeout", "2.5", "--folder", "notes"], { HTTP_PORT: "9000" });

  expect(options).toEqual({
    room: "r",
    identity: "i",
    about: {},
    language: undefined,
    hasSound: false,
    httpUrl: "https://parley.example",
    tokenSecret: undefined,
    folder: "notes",
    say: ["hi"],
    isJson: true,
    timeoutMs: 2_500,
  });
});

test("flags say who the participant is, in which language, with which agent, and whether it speaks", () => {
  const who = ["--name", "Ana", "--attributes", '{"tier": "gold"}', "--metadata", '{"customer": 7}'];

  expect(parseOptions([...who, "--agent", "billing", "--language", "de", "--mic"], {})).toMatchObject({
    about: { name: "Ana", attributes: { tier: "gold" }, metadata: '{"customer": 7}', agent: "billing" },
    language: "de",
    hasSound: true,
  });
});

test("each --say is a turn, in order", () => {
  expect(parseOptions(["--say", "one", "--say", "two"], {})?.say).toEqual(["one", "two"]);
});

test("--help needs no other flag", () => {
  expect(parseOptions(["--help"], {})).toBeUndefined();
});

test.each([
  [["--bogus"]],
  [["words"]],
  [["--room"]],
  [["--timeout", "0"]],
  [["--timeout", "soon"]],
  [["--http", "localhost"]],
  [["--http", "ftp://x"]],
  [["--say", "  "]],
  [["--attributes", "tier=gold"]],
  [["--attributes", '{"tier": 5}']],
  [["--attributes", "[]"]],
  [["--language", "german please"]],
])("%j is refused with a usage error", (args) => {
  expect(() => parseOptions(args, {})).toThrow(UsageError);
});
