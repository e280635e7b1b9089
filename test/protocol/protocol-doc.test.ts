import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERROR_CODES } from "../../src/errors/app-error.ts";
import { announcedToolSchema } from "../../src/protocol/messages/tool-announcement.ts";
import { LIMITS, TOOL_TIMES } from "../../src/protocol/limits.ts";
import { MESSAGE_TYPES, REQUIRED_FEATURES } from "../../src/protocol/messages/message-types.ts";
import { BODY_SCHEMAS } from "../../src/protocol/messages/messages.ts";
import { type MapSchema } from "../../src/protocol/messages/fields.ts";
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

/** The rows of the field table. `requestId` is the codec's, not the schema's. */
function fieldRows(section: string): unknown[] {
  return [...section.matchAll(/^\| `(\w+)` \| (.+?) \| (yes|no) \|/gm)]
    .map(([, name, type, required]) => ({ name, type, required: required === "yes" }))
    .filter(({ name }) => name !== "requestId");
}

test.each(goldens)("the documentation of $type has its fields and its bytes", ({ type, hex, ...golden }) => {
  const section = sectionOf((title) => title.startsWith(`${MESSAGE_TYPES[type]}. `));
  const schema: MapSchema = BODY_SCHEMAS[type];

  expect(section).toContain(`\`${type}\` · `);
  expect(section).toContain(" · answer: ");
  expect(fieldRows(section)).toEqual(describeFields(schema));
  expect(block(section, "hex").replaceAll(/\s/g, "")).toBe(hex);
  expect(JSON.parse(block(section, "json"))).toEqual({ ...golden, type });
});

test("the documentation has no other type", () => {
  const numbers = [...sections.keys()].flatMap((title) => /^(\d+)\. /.exec(title)?.[1] ?? []).map(Number);

  expect(numbers).toEqual(Object.values(MESSAGE_TYPES));
});

test("the documentation of announced tools has their fields", () => {
  expect(fieldRows(sectionOf((title) => title === "Announced tools"))).toEqual(describeFields(announcedToolSchema));
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

test.each(Object.entries(REQUIRED_FEATURES))("the documentation says that %s needs the feature %s", (type, feature) => {
  const number = MESSAGE_TYPES[type as keyof typeof REQUIRED_FEATURES];

  expect(sectionOf((title) => title.startsWith(`${number}. `))).toContain(`Needs the feature \`${feature}\``);
  expect(sectionOf((title) => title === "A session")).toMatch(new RegExp(`\`${feature}\` \\([\\d, ]*${number}\\b`));
});

test("the documentation has the limits as they are", () => {
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

  const { messageBurst, openStreams } = LIMITS;
  expect(rows).toEqual([...numbers, messageBurst, openStreams, TOOL_TIMES.maxTimeoutMs]);
});
