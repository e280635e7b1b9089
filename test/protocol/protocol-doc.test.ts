import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERROR_CODES } from "../../src/errors/app-error.ts";
import { MEMORY_TOOL, OUTCOME_TOOL } from "../../src/conversation/block.ts";
import { ANNOUNCEMENT_LIMITS } from "../../src/session/participants/announced-tools.ts";
import { toolAnnouncementSchema } from "../../src/protocol/messages/tool-announcement.ts";
import { LIMITS, TOOL_TIMES } from "../../src/protocol/limits.ts";
import { MESSAGES, workerFeatures } from "../../src/protocol/messages/messages.ts";
import { describeFields } from "./describe-field.ts";
import { goldens } from "./golden.ts";

const doc = readFileSync(new URL("../../docs/protocol.md", import.meta.url), "utf8");
const sections = new Map(doc.split(/^###? /m).map((section) => [section.slice(0, section.indexOf("\n")), section]));

function sectionOf(heading: (title: string) => boolean): string {
  const title = [...sections.keys()].find(heading);
  return (title !== undefined && sections.get(title)) || "";
}

function block(section: string, language: string): string {
  return new RegExp(`\`\`\`${language}\n([^\`]*)\`\`\``).exec(section)?.[1] ?? "";
}

/**
 * Returns the rows of a section's field table, except `requestId`, which belongs to the codec and not to the schema.
 */
function fieldRows(section: string): unknown[] {
  return [...section.matchAll(/^\| `(\w+)` \| (.+?) \| (yes|no) \|/gm)]
    .map(([, name, type, required]) => ({ name, type, required: required === "yes" }))
    .filter(({ name }) => name !== "requestId");
}

const DIRECTIONS = { client: "client to worker", worker: "worker to client", both: "both ways" } as const;

test.each(goldens)("the documentation for $type has its fields and its bytes", ({ type, hex, ...golden }) => {
  const section = sectionOf((title) => title.startsWith(`${MESSAGES[type].number}. `));
  const { shape, from } = MESSAGES[type];

  expect(section).toContain(`\`${type}\` · ${DIRECTIONS[from]} · answer: `);
  expect(fieldRows(section)).toEqual(describeFields(shape));
  expect(block(section, "hex").replaceAll(/\s/g, "")).toBe(hex);
  expect(JSON.parse(block(section, "json"))).toEqual({ ...golden, type });
});

test("the documentation has no other types", () => {
  const numbers = [...sections.keys()].flatMap((title) => /^(\d+)\. /.exec(title)?.[1] ?? []).map(Number);

  expect(numbers).toEqual(Object.values(MESSAGES).map(({ number }) => number));
});

test("the documentation for announced tools has their fields", () => {
  expect(fieldRows(sectionOf((title) => title === "Announced tools"))).toEqual(describeFields(toolAnnouncementSchema));
});

test("the documentation for announced tools has the actual limits", () => {
  const section = sectionOf((title) => title === "Announced tools").replaceAll(",", "");
  const own = [OUTCOME_TOOL, MEMORY_TOOL].map((name) => `\`${name}\``);

  for (const limit of [...Object.values(ANNOUNCEMENT_LIMITS), LIMITS.announcedTools, ...own])
    expect(section).toContain(` ${limit}`);
});

test("the documentation has every error code", () => {
  const codes = [...sectionOf((title) => title === "Error codes").matchAll(/^\| (\d+) \|/gm)].map(([, code]) =>
    Number(code),
  );

  expect(codes).toEqual(
    Object.values(ERROR_CODES)
      .map(({ wire }) => wire)
      .toSorted((left, right) => left - right),
  );
});

const optional = Object.values(MESSAGES).flatMap((row) => ("feature" in row ? row : []));

test.each(optional)("the documentation says that $number needs the feature $feature", ({ number, feature }) => {
  expect(sectionOf((title) => title.startsWith(`${number}. `))).toContain(`Needs the feature \`${feature}\``);
  expect(sectionOf((title) => title === "A session")).toMatch(new RegExp(`\`${feature}\` \\([\\d, ]*${number}\\b`));
});

test("the documentation has no other feature", () => {
  const [, list = ""] = /^Features: ([^]*?)\n\n/m.exec(sectionOf((title) => title === "A session")) ?? [];

  expect([...list.matchAll(/`(\w+)`(?: \(|: you)/g)].map(([, feature]) => feature)).toEqual(workerFeatures());
});

test("the documentation lists what the worker does not keep for clients that reconnect", () => {
  const section = sectionOf((title) => title === "Reconnection");
  const [, exceptions = ""] = /Not held, and\s+so not sent again: ([^]*)/.exec(section) ?? [];
  // An Ack has no number, so a client could not request it again anyway.
  const notHeld = Object.entries(MESSAGES).filter(
    ([type, row]) => "kept" in row && row.kept !== true && type !== "acknowledgement",
  );
  const titles = notHeld.map(([, { number }]) => [...sections.keys()].find((title) => title.startsWith(`${number}. `)));

  const names = [...exceptions.matchAll(/\b[A-Z]\w+/g)].map(([name]) => name);
  expect(new Set(names)).toEqual(new Set(titles.map((title) => title?.split(" ")[1])));
});

test("the documentation has the actual limits", () => {
  const { envelopeBytes, packetBytes, depth, values, differentKeys, stringBytes, keyBytes, idLength } = LIMITS;
  const { announcedTools, listItems, openCalls } = LIMITS;
  const numbers = [
    envelopeBytes,
    packetBytes,
    depth,
    values,
    differentKeys,
    stringBytes,
    keyBytes,
    idLength,
    announcedTools,
    listItems,
    openCalls,
  ];
  const rows = [...sectionOf((title) => title === "Limits").matchAll(/^\| .+ \| (\d+)/gm)].map(([, value]) =>
    Number(value),
  );

  const { messageBurst, progressBurst, openStreams } = LIMITS;
  expect(rows).toEqual([...numbers, messageBurst, progressBurst, openStreams, TOOL_TIMES.maxTimeoutMs]);
});
