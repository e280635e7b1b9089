import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { TestAgent } from "../support/agent.ts";
import { EventReader, EventServer, roomToken } from "../support/servers/event-server.ts";
import { guardedTool } from "../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";

const PAGE = readFileSync("docs/permissions.md", "utf8");
const blocksOf = (language: string) =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([^\`]*)\`\`\``, "g"))].map(([, block = ""]) => block.trim());

/** The same rules as in the page's config. */
const RULES = [{ type: "edit", pattern: "secrets/**", action: "deny" as const }];

/** Starts a room whose model asks to write a file. `names` returns the names that the page uses for the ids. */
async function startDemo() {
  const cleanup = new AsyncDisposableStack();
  const { tool } = guardedTool({ allowEditedInput: true });
  const agent = cleanup.use(await TestAgent.start({ tools: { write: tool } }));
  const server = cleanup.use(await EventServer.start({ databaseUrl: agent.databaseUrl, rules: RULES }));
  const user = await agent.client("ann");
  agent.model.script([reply([toolUse("write", { path: "notes/a.md" }, "toolu_1")]), reply([text("Done.")])]);
  const headers = { authorization: `Bearer ${await roomToken(agent.roomName, { identity: "ann" })}` };
  const ask = async () => {
    await user.say("Write it");
    await expect.poll(() => agent.sql`select from permissions`, { timeout: 10_000 }).toHaveLength(1);
  };
  const names = async (): Promise<[string, string][]> => {
    const [row] = await agent.sql<{ id: string; session_id: string; call_id: string; message_id: string }[]>`
      select id, session_id, call_id, message_id from permissions`;
    const [grant] = await agent.sql<{ id: string }[]>`select id from permission_grants`;
    return Object.entries({
      PERMISSION: row?.id,
      SESSION: row?.session_id,
      CALL: row?.call_id,
      ANSWER: row?.message_id,
      GRANT: grant?.id,
      demo: agent.roomName,
    }).flatMap(([name, id]) => (id === undefined ? [] : [[name, id]]));
  };
  return { agent, server, user, headers, ask, names, [Symbol.asyncDispose]: () => cleanup.disposeAsync() };
}

type Demo = Awaited<ReturnType<typeof startDemo>>;

/** Converts an answer to the form that the page shows, with names in place of ids, and 0 in place of times. */
async function asOnPage(demo: Demo, answer: string): Promise<string> {
  let named = answer;
  for (const [name, id] of await demo.names()) named = named.replaceAll(id, name);
  return named
    .replaceAll(/((?:At|leftMs|time|start|end|deadlineAt)\\?"):\d+/g, "$1:0")
    .replaceAll(/evt_[\w-]+/g, "EVENT");
}

async function run(demo: Demo, request: string): Promise<string> {
  let actual = request;
  for (const [name, id] of await demo.names()) actual = actual.replaceAll(new RegExp(`\\b${name}\\b`, "g"), id);
  const [, method = "", path = "", body] = /^(\S+) (\S+)(?: (.*))?$/.exec(actual) ?? [];
  const response = await fetch(`${demo.server.url}${path}`, {
    method,
    headers: { ...demo.headers, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body }),
  });
  return asOnPage(demo, `${response.status} ${await response.text()}`.trim());
}

const BLOCKS = blocksOf("http").map((block) => [block.split("\n")[0], block] as const);

test.each(BLOCKS)("everything in docs/permissions.md from %s on really happens", async (_, block) => {
  await using demo = await startDemo();
  await demo.ask();
  const played: string[] = [];
  for (const exchange of block.split("\n\n")) {
    const [request = ""] = exchange.split("\n");
    played.push(`${request}\n${await run(demo, request)}`);
  }

  expect(played.join("\n\n")).toBe(block);
});

const [SETUP = "", WAITS = "", ANSWERS = "", GRANTS = ""] = blocksOf("sh").at(-1)?.split("\n\n") ?? [];
const CURLS = ANSWERS.replaceAll("\\\n", "").split("\n").slice(1);

test.each(
  [
    ["true", "approved"],
    ["true", "approved"],
    ["", "rejected"],
    ["{}", "approved"],
  ].map((expected, index) => [CURLS[index] ?? "", ...expected] as const),
)("the shell runs %s", async (...row) => {
  const [curl, printed, state] = row;
  await using demo = await startDemo();
  await demo.ask();
  const { agent, server, headers } = demo;
  const setup = SETUP.replace(/^base=.*$/m, `base=${server.url}`).replace(
    /^token=.*$/m,
    `token=${headers.authorization.slice("Bearer ".length)}`,
  );
  const run = async (script: string) => {
    const here = `${setup}\n${script}`.replaceAll("session/demo", `session/${agent.roomName}`);
    return (await promisify(execFile)("bash", ["-c", here])).stdout;
  };

  expect(await run(WAITS)).toContain('"id"');
  expect(await run(`${WAITS.split("\n").at(-1)}\n${curl}`)).toBe(printed);
  expect(await agent.sql`select state from permissions`).toEqual([{ state }]);
  const grants = await run(GRANTS);
  expect(grants.endsWith("true")).toBe(curl.includes("always"));
  expect(await agent.sql`select from permission_grants`).toEqual([]);
});

test("the events in docs/permissions.md are what such a request sends, on both streams", async () => {
  await using demo = await startDemo();
  await using own = new EventReader(await demo.server.get(`/session/${demo.agent.roomName}/events`, demo.headers));
  await using opencode = new EventReader(await demo.server.get("/event", demo.headers));
  await opencode.until(() => opencode.text.includes("server.connected"));
  await demo.ask();
  await own.until(() => own.text.includes("permission.asked"));
  await run(demo, "POST /session/demo/permissions/PERMISSION/extend");
  await own.until(() => own.text.includes("permission.extended"));
  await run(demo, 'POST /session/demo/permissions/PERMISSION {"response":"approve"}');
  await own.until(() => own.text.includes("turn_complete"));
  await opencode.until(() => opencode.text.includes('"completed"'));

  const permissions = own.text.split("\n\n").filter((event) => event.startsWith("event: permission."));
  const events = opencode.text
    .split("\n\n")
    .filter((event) => event.startsWith("data: ") && !event.includes("heartbeat"));
  const [ours, theirs] = [await asOnPage(demo, permissions.join("\n\n")), await asOnPage(demo, events.join("\n\n"))];
  const [documented = "", documentedTheirs = ""] = blocksOf("sse");
  expect(ours).toBe(documented);
  // The page omits events that differ only in a call's revision.
  expect(theirs.split("\n\n")).toEqual(expect.arrayContaining(documentedTheirs.split("\n\n")));
});
