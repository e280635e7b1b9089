import { expect, test } from "vitest";
import { parseConformanceOptions } from "../../../src/cli/conformance/options.ts";

const none = { expected: undefined, json: undefined, html: undefined };

test("everything after -- is the client's command, even if it looks like an option", () => {
  const options = parseConformanceOptions(["client", "--json", "out.json", "--", "node", "client.js", "--json"]);

  expect(options).toEqual({ ...none, role: "client", json: "out.json", command: ["node", "client.js", "--json"] });
});

test("a worker is given by its address", () => {
  const options = parseConformanceOptions(["worker", "--url", "http://127.0.0.1:8080/"]);

  expect(options).toEqual({ ...none, role: "worker", url: "http://127.0.0.1:8080" });
});

test.each([[["--help"]], [["-h"]], [["client", "--help"]]])("%j prints the help", (args) => {
  expect(parseConformanceOptions(args)).toBeUndefined();
});

test.each([
  [[], 'expected "client" or "worker"'],
  [["--hepl"], '--hepl is not an option. Did you mean "--help"?'],
  [["server"], 'expected "client" or "worker"'],
  [["client"], "expected the client's command after --"],
  [["client", "--"], "expected the client's command after --"],
  [["client", "node", "client.js"], "Unexpected argument 'node'"],
  [["worker"], "--url: expected the address of the worker's HTTP server"],
  [["worker", "--url", "127.0.0.1"], "--url: expected a URL"],
])("%j is refused: %s", (args, message) => {
  expect(() => parseConformanceOptions(args)).toThrow(message);
});
