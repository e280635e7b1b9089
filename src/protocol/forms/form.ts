import { isRecord, type JsonObject } from "../../lib/json.ts";
import { compileJsonSchema } from "../../lib/json-schema/json-schema.ts";

/** The name of the client tool that shows a form to a person. */
export const ASK_USER = "ask_user";

export interface AskUserInput {
  readonly message: string;
  /** A JSON Schema that `readForm` accepts. */
  readonly requestedSchema: JsonObject;
  /** What was wrong with the previous answer, if the form is shown again because of that. */
  readonly problem?: string;
}

export const ASK_USER_SCHEMA = {
  type: "object",
  properties: {
    message: { type: "string", minLength: 1, maxLength: 2_000, description: "What is asked, as the person reads it" },
    requestedSchema: {
      type: "object",
      description:
        "JSON Schema of a flat form. Each of its properties is one field: a string, number, integer, boolean, an enum, or an " +
        "array whose items are an enum, of which several are chosen. title and description of a property are shown to the " +
        "person; required names the fields that may not be left out",
      properties: {
        type: { enum: ["object"] },
        properties: { type: "object" },
        required: { type: "array", items: { type: "string" } },
      },
      required: ["properties"],
    },
    problem: { type: "string", description: "What was wrong with the last answer, when the same is asked again" },
  },
  required: ["message", "requestedSchema"],
} as const;

/** A person's answer to a form: the result of `ask_user`, in the shape of an MCP elicitation. */
export type FormAnswer =
  | { readonly action: "accept"; readonly content: Readonly<Record<string, FieldValue>> }
  /** The person declined. */
  | { readonly action: "decline" }
  /** The person neither answered nor declined. */
  | { readonly action: "cancel" };

export type FieldValue = string | number | boolean | readonly FormChoice["value"][];

export interface FormField {
  readonly name: string;
  /** For `choice` one value is chosen, for `choices` several. */
  readonly type: "string" | "number" | "integer" | "boolean" | "choice" | "choices";
  /** The schema's title, or else the name. */
  readonly label: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /** The options of the types `choice` and `choices`; empty for all others. */
  readonly choices: readonly FormChoice[];
  /** The schema's default, if it is valid. */
  readonly initial: FieldValue | undefined;
  /** A hint for displaying the field, such as `email` or `date`. `check` validates `email`, `uri` and `date`. */
  readonly format: string | undefined;
  readonly schema: JsonObject;
  /** Returns what is wrong with a value, or `undefined` if it is valid. Does not check `pattern`. */
  readonly check: (value: unknown) => string | undefined;
}

export interface FormChoice {
  readonly value: string | number;
  readonly label: string;
}

const MAX_FIELDS = 32;
const MAX_CHOICES = 200;
const MAX_SCHEMA_LENGTH = 32_768;
const TYPES = ["string", "number", "integer", "boolean"] as const;

/**
 * Returns the fields of a form, in the order of the schema's properties. A form without fields only asks the person to
 * accept its message.
 *
 * @throws {TypeError} if a part of the schema cannot be shown as a form; names that part
 */
export function readForm(schema: unknown): readonly FormField[] {
  if (!isRecord(schema) || !isRecord(schema["properties"]))
    throw new TypeError("the form's schema: expected an object with properties");
  const { type = "object", properties, required = [] } = schema;
  if (type !== "object") throw new TypeError('the form\'s schema: expected the type "object"');
  if (JSON.stringify(schema).length > MAX_SCHEMA_LENGTH)
    throw new TypeError(`the form's schema: longer than ${MAX_SCHEMA_LENGTH} characters`);
  const entries = Object.entries(properties);
  if (entries.length > MAX_FIELDS) throw new TypeError(`the form's schema: more than ${MAX_FIELDS} properties`);
  const names = (Array.isArray(required) ? required : []).map(String);
  const unknown = names.find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) throw new TypeError(`the form's schema: required lists an unknown property: ${unknown}`);
  return entries.map(([name, property]) => readField(name, property, names.includes(name)));
}

function readField(name: string, schema: unknown, isRequired: boolean): FormField {
  const refuse = (why: string) => new TypeError(`the form's schema: properties.${name}: ${why}`);
  if (!isRecord(schema)) throw refuse("expected an object");
  const { title, description, format, items, default: initial } = schema;
  const isList = schema["type"] === "array";
  const choices = readChoices(isList ? items : schema);
  const chosen = isList ? "choices" : "choice";
  const type = choices ? chosen : TYPES.find((each) => each === schema["type"]);
  if (!type) throw refuse("expected a string, number, integer, boolean, enum, or array of an enum");
  if (choices && choices.length > MAX_CHOICES) throw refuse(`more than ${MAX_CHOICES} choices`);
  const check = compileJsonSchema(schema, { isForeign: true });
  return {
    name,
    type,
    label: typeof title === "string" && title.trim() !== "" ? title : name,
    description: typeof description === "string" ? description : undefined,
    isRequired,
    choices: choices ?? [],
    initial: isValue(initial) && !check(initial) ? initial : undefined,
    format: typeof format === "string" ? format : undefined,
    schema: schema as JsonObject,
    check: (value) => check(value)?.message ?? checkFormat(format, value),
  };
}

/**
 * The formats whose strings are checked. These checks are looser than the asker's own validation, which makes the final
 * decision.
 */
const FORMATS: Readonly<Record<string, readonly [fits: (text: string) => boolean, expected: string]>> = {
  email: [(text) => /^[^\s@]+@[^\s@]+$/u.test(text), "expected an email address"],
  uri: [(text) => URL.canParse(text), "expected an address such as https://example.com"],
  date: [isDate, "expected a date such as 2026-03-31"],
};

function checkFormat(format: unknown, value: unknown): string | undefined {
  const [fits, expected] = (typeof format === "string" && Object.hasOwn(FORMATS, format) && FORMATS[format]) || [];
  return fits && typeof value === "string" && !fits(value) ? expected : undefined;
}

/** Whether a string is a calendar date, such as 2024-02-29. */
function isDate(text: string): boolean {
  const at = Date.parse(`${text}T00:00Z`);
  return /^\d{4}-\d\d-\d\d$/u.test(text) && !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/**
 * Returns a field's choices: the values of `enum`, with labels from `enumNames` if there are any, or the items of
 * `oneOf` or `anyOf`, each with a `const` and possibly a `title`. Returns `undefined` if the schema has no such
 * choices.
 */
function readChoices(schema: unknown): readonly FormChoice[] | undefined {
  if (!isRecord(schema)) return undefined;
  const { enum: values, enumNames, oneOf, anyOf = oneOf } = schema;
  const names: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
  if (Array.isArray(values)) return toChoices(values.map((value: unknown, index) => [value, names[index]]));
  if (!Array.isArray(anyOf)) return undefined;
  return toChoices(anyOf.map((each: unknown) => (isRecord(each) ? [each["const"], each["title"]] : [])));
}

function toChoices(pairs: readonly (readonly unknown[])[]): readonly FormChoice[] | undefined {
  const choices = pairs.flatMap(([value, title]): FormChoice[] => {
    if (typeof value !== "string" && typeof value !== "number") return [];
    return [{ value, label: typeof title === "string" ? title : String(value) }];
  });
  return choices.length === pairs.length && choices.length > 0 ? choices : undefined;
}

function isValue(value: unknown): value is FieldValue {
  if (Array.isArray(value)) return value.every((each) => isValue(each) && !Array.isArray(each));
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** A value, or what is wrong with it: "expected a number". */
export type ReadField = { readonly value: FieldValue } | { readonly problem: string };

/**
 * Converts what somebody typed into the field's value. A choice may be typed as its label, its value or its number,
 * starting at 1. Several choices are separated by commas.
 */
export function parseField(field: FormField, typed: string): ReadField {
  const value = toValue(field, typed.trim());
  return value === undefined ? { problem: expectationOf(field) } : checkField(field, value);
}

/** Checks a value that was not typed, such as a list of ticked choices. */
export function checkField(field: FormField, value: FieldValue): ReadField {
  const problem = field.check(value);
  return problem === undefined ? { value } : { problem };
}

/** Returns, for example, "expected a number" or "expected one of red, green". */
export function expectationOf({ type, choices }: Pick<FormField, "type" | "choices">): string {
  switch (type) {
    case "choice":
      return `expected one of ${choices.map(({ label }) => label).join(", ")}`;
    case "choices":
      return `expected any of ${choices.map(({ label }) => label).join(", ")}, separated by commas`;
    case "boolean":
      return "expected yes or no";
    case "integer":
      return "expected a whole number";
    case "number":
      return "expected a number";
    case "string":
      return "expected some text";
  }
}

function toValue({ type, choices }: FormField, text: string): FieldValue | undefined {
  if (type === "choices") return toChosen(choices, text);
  if (text === "") return undefined;
  const plain = text.toLowerCase();
  switch (type) {
    case "string":
      return text;
    case "number":
    case "integer": {
      const number = Number(text.replace(",", "."));
      return Number.isFinite(number) && (type === "number" || Number.isInteger(number)) ? number : undefined;
    }
    case "boolean":
      if (["y", "yes", "true"].includes(plain)) return true;
      return ["n", "no", "false"].includes(plain) ? false : undefined;
    case "choice":
      return toChoice(choices, text);
  }
}

function toChoice(choices: readonly FormChoice[], text: string): FormChoice["value"] | undefined {
  const plain = text.toLowerCase();
  const named = choices.find(
    ({ value, label }) => label.toLowerCase() === plain || String(value).toLowerCase() === plain,
  );
  return (named ?? (/^\d+$/.test(text) ? choices[Number(text) - 1] : undefined))?.value;
}

/**
 * Returns the chosen values; none for an empty string. Returns `undefined` if one of the comma-separated parts is not a
 * choice.
 */
function toChosen(choices: readonly FormChoice[], text: string): FormChoice["value"][] | undefined {
  const parts = text.split(",").flatMap((part) => part.trim() || []);
  const chosen = parts.flatMap((part) => toChoice(choices, part) ?? []);
  return chosen.length === parts.length ? [...new Set(chosen)] : undefined;
}
