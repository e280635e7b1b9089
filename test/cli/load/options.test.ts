import { expect, test } from "vitest";
import { parseLoadOptions } from "../../../src/cli/load/options.ts";
import { UsageError } from "../../../src/worker/settings/command-line.ts";

test("flags set the number of rooms, the duration and the questions", () => {
  const args = [
    "--rooms",
    "50",
    "--turns",
    "20",
    "--ramp",
    "5",
    "--pause",
    "0.5",
    "--tools",
    "client,server",
    "--voice",
    "3",
    "--json",
  ];

  expect(parseLoadOptions(args, { HTTP_PORT: "9000", TOKEN_SECRET: "s" })).toEqual({
    rooms: 50,
    turns: 20,
    rampMs: 5_000,
    pauseMs: 500,
    tools: ["client", "server"],
    voice: 3,
    say: undefined,
    httpUrl: "http://127.0.0.1:9000",
    mayGoElsewhere: false,
    tokenSecret: "s",
    timeoutMs: 60_000,
    isJson: true,
  });
});

test.each(["--url", "--http"])("%s sets the server, which may be on another machine", (flag) => {
  const options = parseLoadOptions([flag, "https://parley.example.com/"], {});

  expect(options).toMatchObject({ httpUrl: "https://parley.example.com", mayGoElsewhere: true });
});

test("--help needs no other flag", () => {
  expect(parseLoadOptions(["--help"], {})).toBeUndefined();
});

test.each([
  [["--rooms", "501"], "--rooms: expected a whole number from 1 to 500, got 501"],
  [["--rooms", "1.5"], "--rooms: expected a whole number from 1 to 500, got 1.5"],
  [["--turns", ""], "--turns: expected a whole number from 1 to 1000, got "],
  [["--ramp", "soon"], "--ramp: expected a number from 0 to 3600, got soon"],
  [["--tools", "mcp"], "--tools: expected client, server or both, got mcp"],
  [["--rooms", "2", "--voice", "3"], "--voice: expected a whole number from 0 to 2, got 3"],
  [["--rooms", "200", "--voice", "101"], "--voice: expected a whole number from 0 to 100, got 101"],
  [["--url", "localhost"], "--url: expected a URL such as http://127.0.0.1:8080"],
])("%j is refused, and the error contains the flag", (args, message) => {
  expect(() => parseLoadOptions(args, {})).toThrow(new UsageError(message));
});
