import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { clientSuites } from "../../src/conformance/client/check-client.ts";
import { CLIENT_RULES } from "../../src/conformance/client/written-rules.ts";
import { WORKER_RULES, workerSuites } from "../../src/conformance/worker/check-worker.ts";

const inOneLine = (text: string) => text.replaceAll(/\s+/g, " ");
const page = inOneLine(readFileSync("docs/protocol.md", "utf8"));
const nowhere = { url: "", apiKey: "", apiSecret: "" };
const ofClients = [
  ...clientSuites({ livekit: nowhere, command: [], environment: {} }, () => {}).flatMap(({ checks }) => checks),
  ...CLIENT_RULES,
];
const ofWorkers = [
  ...workerSuites(
    () => Promise.reject(new Error("No room is opened here")),
    () => {},
  ).flatMap(({ checks }) => checks),
  ...WORKER_RULES,
];

test.each([...ofClients, ...ofWorkers])("docs/protocol.md contains the sentence of $id word for word", (check) => {
  expect(page).toContain(inOneLine(check.sentence));
});

const roles = [
  ["client", ofClients],
  ["worker", ofWorkers],
] as const;

test.each(roles)("each check for a %s has a unique id", (_role, checks) => {
  const ids = checks.map(({ id }) => id);

  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test.each(roles)("the kit has at least 60 checks for a %s", (_role, checks) => {
  expect(checks.length).toBeGreaterThanOrEqual(60);
});
