import { type DescMessage, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { decode } from "@msgpack/msgpack";
import { Ajv2020 } from "ajv/dist/2020.js";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  PermissionRequestSchema,
  PermissionResponseSchema,
  ToolCallStateSchema,
} from "../../../src/http/rpc/generated/opencode/tool_pb.ts";
import { MESSAGES } from "../../../src/protocol/messages/messages.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import type { Participant } from "../../support/participant.ts";

interface Form {
  readonly proto: DescMessage;
  /** Fields that the schema has and the proto lacks. */
  readonly added: readonly string[];
}

const FORMS = {
  tool_call_state: { proto: ToolCallStateSchema, added: [] },
  permission_request: { proto: PermissionRequestSchema, added: [] },
  permission_response: { proto: PermissionResponseSchema, added: ["message", "editedInputJson", "state"] },
} as const satisfies Record<string, Form>;
type Type = keyof typeof FORMS;

function without(body: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([key]) => !keys.includes(key)));
}

/** Bodies as they were sent, decoded without any of our own code. */
function bodiesOf(user: Participant, type: Type): JsonObject[] {
  return user.packets
    .map((bytes) => decode(bytes) as { readonly type: number; readonly body: JsonObject })
    .filter((envelope) => envelope.type === MESSAGES[type].number)
    .map(({ body }) => without(body, ["conversationId"]));
}

async function schemaOf(type: Type): Promise<object> {
  const name = type.replaceAll(/_(\w)/g, (...[, letter]) => String(letter).toUpperCase());
  return JSON.parse(await readFile(`schemas/${name}.schema.json`, "utf8")) as object;
}

/**
 * Validates bodies against the JSON Schema and the proto. A field that one of them lacks is a fault, except for the
 * fields in `added`.
 */
async function faultsOf(type: Type, bodies: readonly JsonObject[]): Promise<unknown[]> {
  const { proto, added }: Form = FORMS[type];
  const validate = new Ajv2020({ allErrors: true }).compile({ ...(await schemaOf(type)), additionalProperties: false });
  return bodies.flatMap((body) => {
    const faults: unknown[] = validate(body) ? [] : [...(validate.errors ?? [])];
    try {
      fromJson(proto, without(body, added));
      for (const json of [body["inputJson"], body["metadataJson"]]) if (typeof json === "string") JSON.parse(json);
    } catch (error) {
      faults.push(error);
    }
    return faults.length === 0 ? [] : [{ body, faults }];
  });
}

const { tool: write } = guardedTool({ allowEditedInput: true });
const input = z.object({});
const tools = {
  write,
  count: defineTool({
    description: "Counts.",
    input: z.object({ to: z.int() }),
    run: ({ to }, { log, progress }) => {
      log(`to ${to}`);
      progress(0.5);
      return { to };
    },
  }),
  boom: defineTool({ description: "Fails.", input, run: () => Promise.reject(new Error("It broke")) }),
  stuck: defineTool({ description: "Waits.", input, run: () => new Promise(() => {}) }),
};
const scan = { name: "scan", description: "Scans.", inputSchema: { type: "object" } };

test("every ToolCallState, PermissionRequest and PermissionResponse in a whole session matches spec/004's proto and schemas", async () => {
  await using agent = await TestAgent.start({ tools });
  const user = await agent.client("user", { features: ["tool_call_state", "permissions"], tools: [scan] });
  const paths = ["a.md", "b.md", "c.md"];
  agent.model.script([
    reply([text("Let me see."), toolUse("count", { to: 3 }), toolUse("scan", { page: 1 }), toolUse("boom")]),
    reply([toolUse("ghost"), toolUse("count", { to: "x" }), ...paths.map((path) => toolUse("write", { path }))]),
    reply([text("Done.")]),
    reply([toolUse("stuck"), toolUse("write", { path: "z.md" })]),
  ]);
  const answer = (title: string, body: object) =>
    user
      .next("permission_request", (asked) => asked.title === title)
      .then(({ id: permissionId }) =>
        user.send({ type: "permission_response", body: { permissionId, response: "approve", ...body } }),
      );

  const first = await user.say("Do it all");
  const { id } = await user.next("tool_use_request", ({ toolName }) => toolName === "scan");
  await user.send({ type: "tool_use_progress", body: { id, log: "page 1", progress: 0.5 } });
  await user.answer(id, { success: true, result: { page: "x".repeat(20_000) } });
  await answer("Write a.md", {});
  await answer("Write b.md", { response: "reject", message: "Not that one" });
  await answer("Write c.md", { response: "always", editedInputJson: '{"path":"d.md"}' });
  await user.answerTo(first);
  const second = await user.say("Once more");
  await user.next("permission_request", ({ title }) => title === "Write z.md");
  await user.next("tool_call_state", ({ name, status }) => name === "stuck" && status === "running");
  await user.send({ type: "control_stop", body: {} });
  await user.answerTo(second);
  await user.next("permission_response", ({ state }) => state === "withdrawn");
  await user.next("tool_call_state", ({ name, status }) => name === "stuck" && status === "cancelled");

  const sent = new Map((Object.keys(FORMS) as Type[]).map((type) => [type, bodiesOf(user, type)]));
  const states = user.all("tool_call_state");
  const ends = states
    .filter(({ finishedAt }) => finishedAt !== undefined)
    .map(({ name, status }) => `${name} ${status}`);
  expect(new Set(ends)).toEqual(
    new Set(
      ["count success", "scan success", "boom error", "ghost error", "count error"].concat([
        "write success",
        "write error",
        "stuck cancelled",
        "write cancelled",
      ]),
    ),
  );
  expect(new Set(states.map(({ status }) => status)).size).toBe(5);
  expect(sent.get("permission_request")).toHaveLength(4);
  expect(new Set(sent.get("permission_response")?.map(({ state }) => state))).toEqual(
    new Set(["approved", "rejected", "withdrawn"]),
  );
  for (const [type, bodies] of sent) expect(await faultsOf(type, bodies)).toEqual([]);
  expect(agent.model.rejections).toEqual([]);
});
