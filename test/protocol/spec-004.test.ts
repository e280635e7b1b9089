import {
  fromBinary,
  fromJson,
  ScalarType,
  toBinary,
  toJson,
  type DescField,
  type DescMessage,
  type JsonObject,
} from "@bufbuild/protobuf";
import { Ajv2020 } from "ajv/dist/2020.js";
import { execFile } from "node:child_process";
import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { messageSchemas } from "../../scripts/message-schemas.ts";
import {
  PermissionRequestSchema,
  PermissionResponseSchema,
  PermissionService,
  ToolCallStateSchema,
} from "../../src/http/rpc/generated/opencode/tool_pb.ts";
import { MESSAGES, type MessageType } from "../../src/protocol/messages/messages.ts";
import { goldens } from "./golden.ts";

const GENERATED = "src/http/rpc/generated";

async function filesIn(folder: string): Promise<Record<string, string>> {
  const names = (await Array.fromAsync(glob("**/*.ts", { cwd: folder }))).toSorted();
  const texts = await Promise.all(
    names.map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const),
  );
  return Object.fromEntries(texts);
}

test("the generated code matches the proto", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-generate-"));
  try {
    await promisify(execFile)("node_modules/.bin/buf", ["generate", "--output", folder], {
      env: { ...process.env, PATH: `node_modules/.bin:${process.env["PATH"] ?? ""}` },
    });

    const fresh = await filesIn(join(folder, GENERATED));
    expect(Object.keys(fresh)).toEqual(["opencode/tool_pb.ts"]);
    expect(await filesIn(GENERATED)).toEqual(fresh);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the schemas in schemas/ match the code", async () => {
  for (const [name, text] of messageSchemas()) expect(await readFile(`schemas/${name}`, "utf8")).toBe(text);
});

/** The forms of a message that must agree, and how the wire differs from spec/004 on purpose. */
interface Forms {
  readonly type: MessageType;
  readonly proto: DescMessage;
  /** Fields that Parley adds and the proto lacks. */
  readonly added?: readonly string[];
  /** Fields that the proto always has and the wire may omit. */
  readonly leftOut?: readonly string[];
}

const FORMS: Readonly<Record<string, Forms>> = {
  toolCallState: {
    type: "tool_call_state",
    proto: ToolCallStateSchema,
    // Omitted if it is empty, because an empty text is not valid JSON.
    leftOut: ["inputJson"],
  },
  permissionRequest: { type: "permission_request", proto: PermissionRequestSchema },
  permissionResponse: {
    type: "permission_response",
    proto: PermissionResponseSchema,
    added: ["message", "editedInputJson", "state"],
    // May be omitted, because the worker knows the sender's session.
    leftOut: ["sessionId"],
  },
};

interface JsonSchema {
  readonly type: string;
  readonly items?: JsonSchema;
  readonly default?: unknown;
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

/** Returns a proto field's type in JSON. A JSON number is precise enough for an `int64` of milliseconds. */
function jsonTypeOf(field: DescField): string {
  if (field.fieldKind === "list") return field.scalar === ScalarType.STRING ? "string[]" : "?";
  if (field.fieldKind !== "scalar") return "?";
  return field.scalar === ScalarType.STRING ? "string" : field.scalar === ScalarType.INT64 ? "integer" : "?";
}

function typeOf({ type, items }: JsonSchema): string {
  return items ? `${items.type}[]` : type;
}

const readSchema = async (name: string) =>
  JSON.parse(await readFile(`schemas/${name}.schema.json`, "utf8")) as JsonSchema;

test.each(Object.entries(FORMS))("%s has the same fields in proto, code and schema", async (name, forms) => {
  const { type, proto, added = [] } = forms;
  const { entries } = MESSAGES[type].shape;
  const schema = await readSchema(name);
  const ofProto = proto.fields.map(({ jsonName }) => jsonName);

  expect(Object.keys(entries)).toEqual([...ofProto, ...added]);
  expect(Object.keys(schema.properties)).toEqual([...ofProto, ...added]);
});

test.each(Object.entries(FORMS))("%s has fields of the same types in proto and schema", async (name, { proto }) => {
  const { properties } = await readSchema(name);

  for (const field of proto.fields) {
    const property = properties[field.jsonName];
    expect([field.jsonName, property && typeOf(property)]).toEqual([field.jsonName, jsonTypeOf(field)]);
  }
});

test.each(Object.entries(FORMS))(
  "optional fields in %s's proto are optional in code and schema",
  async (name, forms) => {
    const { type, proto, added = [], leftOut = [] } = forms;
    const { entries } = MESSAGES[type].shape;
    const { properties, required } = await readSchema(name);
    const ofProto = proto.fields
      .filter(({ proto: { proto3Optional } }) => proto3Optional)
      .map(({ jsonName }) => jsonName);
    const optional = [...ofProto, ...added, ...leftOut].toSorted();
    expect(
      Object.entries(entries)
        .filter(([, field]) => field.type === "exact_optional")
        .map(([key]) => key)
        .toSorted(),
    ).toEqual(optional);
    // A field with a default may be omitted, too: proto3 itself omits empty fields.
    const mayBeAbsent = Object.keys(properties).filter(
      (key) => !required.includes(key) && !("default" in (properties[key] ?? {})),
    );
    expect(mayBeAbsent.toSorted()).toEqual(optional);
  },
);

test.each(Object.entries(FORMS))("%s as sent on the wire matches the schema and the proto", async (name, forms) => {
  const { type, proto, added = [] } = forms;
  const [golden] = goldens.filter((each) => each.type === type);
  const fits = new Ajv2020().compile({ ...(await readSchema(name)) });

  expect([fits(golden?.body), fits.errors]).toEqual([true, null]);
  const known = Object.fromEntries(Object.entries(golden?.body ?? {}).filter(([key]) => !added.includes(key)));
  const message = fromBinary(proto, toBinary(proto, fromJson(proto, known as JsonObject)));
  // Protobuf's JSON writes an int64 as text.
  const asText = Object.entries(known).map(([key, value]) => [key, typeof value === "number" ? String(value) : value]);
  expect(toJson(proto, message)).toEqual(Object.fromEntries(asText));
});

test("the service matches spec/004", () => {
  expect(PermissionService.typeName).toBe("opencode.tool.PermissionService");
  expect(PermissionService.methods.map(({ name, input, output }) => [name, input.name, output.name])).toEqual([
    ["RespondToPermission", "PermissionResponse", "Empty"],
  ]);
});

test("the proto matches spec/004, field by field", async () => {
  const withoutComments = (await readFile("proto/opencode/tool.proto", "utf8")).replaceAll(/\s*\/\/.*$/gm, "");
  const fields = [...withoutComments.matchAll(/^ {2}(\S.*) = (\d+);$/gm)].map(
    ([, field, number]) => `${number} ${field}`,
  );

  expect(fields).toEqual([
    "1 string id",
    "2 string name",
    "3 string status",
    "4 optional string call_id",
    "5 string input_json",
    "6 optional string output",
    "7 optional string error",
    "8 repeated string logs",
    "9 string metadata_json",
    "10 optional int64 started_at",
    "11 optional int64 finished_at",
    "1 string id",
    "2 string type",
    "3 repeated string pattern",
    "4 string session_id",
    "5 string message_id",
    "6 optional string call_id",
    "7 string title",
    "8 string metadata_json",
    "9 int64 created_at",
    "1 string session_id",
    "2 string permission_id",
    "3 string response",
  ]);
});
