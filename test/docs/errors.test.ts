import { encode } from "@msgpack/msgpack";
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERROR_CODES } from "../../src/errors/app-error.ts";
import { MODEL_ERROR_KINDS } from "../../src/llm/model-error.ts";
import { openClient } from "../client/open-client.ts";

const doc = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
const section = doc.split(/^## /m).find((part) => part.startsWith("Error codes of a tool result")) ?? "";
/** Codes of a tool result, with the sides that set them. */
const resultCodes: ReadonlyMap<string, readonly string[]> = new Map(
  [...section.matchAll(/^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$/gm)].map(([, code = "", givers = ""]) => [
    code,
    givers.split(", "),
  ]),
);

test("the page and the table of codes agree", () => {
  const rows = [...doc.matchAll(/^\| (\d+) \| `(\w+)` \| (\d) \| (yes|no) \| [^|]+ \| [^|]+ \| [^|]+ \|$/gm)].map(
    ([, wire, code, severity, recoverable]) => ({ code, wire, severity, recoverable }),
  );
  const codes = Object.entries(ERROR_CODES).map(([code, { wire, severity, recoverable }]) => ({
    code,
    wire: String(wire),
    severity: String(severity),
    recoverable: recoverable ? "yes" : "no",
  }));

  expect(rows).toEqual(codes.toSorted((a, b) => Number(a.wire) - Number(b.wire)));
});

test("the page lists each kind of failed model call, with its code and whether the same request is sent again", () => {
  const rows = [...doc.matchAll(/^\| ((?:`\w+`(?:, )?)+) \| [^|]+ \| `(\w+)` \| ([^|]+) \|$/gm)];
  const described = rows.flatMap(([, kinds = "", code, again]) =>
    [...kinds.matchAll(/\w+/g)].map(([kind]) => [kind, { code, retryable: again === "yes" }]),
  );

  expect(Object.fromEntries(described)).toEqual(MODEL_ERROR_KINDS);
});

test("no number is used for two codes", () => {
  const numbers = Object.values(ERROR_CODES).map(({ wire }) => wire);

  expect(new Set(numbers).size).toBe(numbers.length);
});

/**
 * Codes that are raised, but never sent to participants. With `invalid_config`, a worker refuses to start. With
 * `lost_lease`, it notices that it has lost its session.
 */
const NEVER_SENT = ["invalid_config", "lost_lease"];

test("the page says which codes the worker sends", () => {
  const sources = sourcesIn("conversation", "llm", "permission", "protocol", "session", "store", "tool", "turn");
  // Finds `new AppError("…"`, and `code: "…"`, which is how a MalformedMessageError and a ModelError set their codes.
  const raised = [...sources.matchAll(/(?:new AppError\(\s*|\bcode: )"(\w+)"/g)].flatMap(([, code]) => code ?? []);

  const codes = Object.keys(ERROR_CODES).filter((code) => raised.includes(code) && !NEVER_SENT.includes(code));
  expect(new Set(sentBy("worker"))).toEqual(new Set(codes));
  expect(sentBy("nobody").toSorted()).toEqual(
    Object.keys(ERROR_CODES)
      .filter((code) => !codes.includes(code))
      .toSorted(),
  );
});

test("the page says which codes our client sends", async () => {
  const { room } = await openClient();
  const deep = Array.from({ length: 90 }).reduce<unknown>((inner) => [inner], 1);
  const request = { id: "r1", messageId: "m", toolName: "t", parameters: { deep } };
  const bodies = [{ id: "r2" }, { id: "r3", execution: "elsewhere" }, { execution: "client" }, request];

  for (const [index, body] of bodies.entries())
    room.sayBytes(encode({ stanzaId: -90 - index, conversationId: "c", type: 6, meta: {}, body }));
  await room.until(() => room.all("error_message").length === bodies.length);

  const wires = sentBy("client").map((code) => ERROR_CODES[code as keyof typeof ERROR_CODES].wire);
  expect(new Set(room.all("error_message").map(({ code }) => code))).toEqual(new Set(wires));
});

test("every error code that a tool result can have is on the page, and no other", () => {
  expect(new Set(resultCodes.keys())).toEqual(new Set([...unionOf("CallErrorCode"), ...literalCodes()]));
});

test.each([
  ["worker", ["tool", "session"]],
  ["client", ["client", "cli/talk"]],
])("the page says which result codes the %s sets", (who, folders) => {
  const given = [...resultCodes].filter(([, givers]) => givers.includes(who)).map(([code]) => code);
  // Leaves out the type that lists all codes, because it sets none of them.
  const sources = sourcesIn(...folders).replace(/type CallErrorCode =[^;]*;/, "");

  expect(given).toEqual([...resultCodes.keys()].filter((code) => sources.includes(`"${code}"`)));
});

test("the protocol page lists the same result codes", () => {
  const protocol = readFileSync(new URL("../../docs/protocol.md", import.meta.url), "utf8");
  const [, row = ""] = /^\| `errorCode` \| (.*)$/m.exec(protocol) ?? [];

  expect(new Set([...row.matchAll(/`(\w+)`/g)].map(([, code]) => code))).toEqual(new Set(resultCodes.keys()));
});

test("the client page lists the codes that its SDK sets", () => {
  const client = readFileSync(new URL("../../docs/client.md", import.meta.url), "utf8");
  const [, table = ""] = client.split("| what happened | errorCode | errorMessage |");
  const described = [...table.matchAll(/^\| [^|]+ \| `(\w+)` \|/gm)].map(([, code]) => code);
  const sources = sourcesIn("client");

  const given = [...resultCodes.keys()].filter((code) => sources.includes(`"${code}"`));
  expect(new Set(described)).toEqual(new Set(given));
});

/** The codes of the ErrorMessages that `who` sends, according to the page. */
function sentBy(who: string): string[] {
  return [...doc.matchAll(/^\| \d+ \| `(\w+)` \| \d \| \w+ \| ([^|]+) \|/gm)].flatMap(([, code = "", senders = ""]) =>
    senders.split(", ").includes(who) ? [code] : [],
  );
}

/** The concatenated sources in folders of `src/`. */
function sourcesIn(...folders: readonly string[]): string {
  const files = folders.flatMap((folder) => globSync(`src/${folder}/**/*.ts`));
  return files.map((file) => readFileSync(file, "utf8")).join("\n");
}

/** The members of a string union, read from its source because types are gone at run time. */
function unionOf(name: string): string[] {
  const source = readFileSync(new URL("../../src/conversation/call.ts", import.meta.url), "utf8");
  const [, body = ""] = new RegExp(`type ${name} =([^;]*);`).exec(source) ?? [];
  return [...body.matchAll(/"(\w+)"/g)].flatMap(([, code]) => code ?? []);
}

/** Codes written as literals where a call is settled. */
function literalCodes(): string[] {
  const settled = /(?:failure\(|#refuse\(\w+, |refuseOpenCall\([^[\n]*\[)"(\w+)"/g;
  return [...sourcesIn("tool", "session").matchAll(settled)].flatMap(([, code]) => code ?? []);
}
