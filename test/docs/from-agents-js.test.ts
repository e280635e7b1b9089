import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("docs/from-agents-js.md", "utf8");
/** The rows of the table, without its header. */
const rows = [...page.matchAll(/^\| (.+?) \| (.+) \|$/gm)].slice(1);
const declared = globSync("node_modules/@livekit/agents/dist/**/*.d.ts").map((file) => readFileSync(file, "utf8"));
/** Names on the page that @livekit/agents does not declare: names from other packages, and placeholders. */
const OTHERS = ["openai", "RoomServiceClient", "SipClient", "z", "object", "throw", "new", "args", "text"];

test("the page refers to the installed version of agents-js", () => {
  const { version } = JSON.parse(readFileSync("node_modules/@livekit/agents/package.json", "utf8")) as {
    version: string;
  };

  expect(page).toContain(`\`@livekit/agents\` ${version.split(".").slice(0, 2).join(".")}.`);
});

test("each name on the left exists in agents-js", () => {
  const code = rows.flatMap(([, left = ""]) => [...left.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text));
  const names = code.flatMap((text) => text.replaceAll(/"[^"]*"/g, "").match(/[A-Za-z_]{2,}/g) ?? []);
  const isDeclared = (name: string) => declared.some((text) => new RegExp(`\\b${name}\\b`).test(text));

  expect(names.length).toBeGreaterThan(40);
  expect(names.filter((name) => !OTHERS.includes(name) && !isDeclared(name))).toEqual([]);
});
