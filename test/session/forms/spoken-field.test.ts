import { expect, test } from "vitest";
import { readForm } from "../../../src/protocol/forms/form.ts";
import { readSpokenField, toFieldQuestion } from "../../../src/session/forms/spoken-field.ts";

function fieldOf(schema: object, isRequired = true) {
  const [field] = readForm({ type: "object", properties: { it: schema }, required: isRequired ? ["it"] : [] });
  if (!field) throw new Error("no field");
  return field;
}

const NUMBER = { type: "number", minimum: -5, maximum: 2_000 };
const COLOR = { type: "string", enum: ["red", "dark red", "green"] };
const EXTRAS = { type: "array", items: { enum: ["ham", "egg", "goat cheese"] } };

test.each([
  [NUMBER, "en", "I think 42.", 42],
  [NUMBER, "en", "1,250.5", 1_250.5],
  [NUMBER, "de", "1.250,5", 1_250.5],
  [NUMBER, "en", "minus two", undefined],
  [NUMBER, "en", "-3", -3],
  [NUMBER, "en", "twenty two", undefined],
  [NUMBER, "fr", "Deux.", 2],
  [NUMBER, "de-AT", "fünf", 5],
  [NUMBER, "en", "2 or 3", undefined],
  [NUMBER, "en", "3000", undefined],
  [NUMBER, "no such tag!", "seven", 7],
  [{ type: "integer" }, "en", "2.5", undefined],
  [{ type: "boolean" }, "en", "Yes, please", true],
  [{ type: "boolean" }, "es", "Claro", true],
  [{ type: "boolean" }, "en", "Not sure", undefined],
  [COLOR, "en", "The green one.", "green"],
  [COLOR, "en", "Dark red", "dark red"],
  [COLOR, "en", "red or green", undefined],
  [
    {
      oneOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
    },
    "en",
    "large please",
    "l",
  ],
  [{ type: "integer", enum: [1, 2] }, "en", "2", 2],
  [EXTRAS, "en", "Goat cheese and some ham, please", ["ham", "goat cheese"]],
  [EXTRAS, "en", "Everything, please", ["ham", "egg", "goat cheese"]],
  [EXTRAS, "de", "Alles", ["ham", "egg", "goat cheese"]],
  [EXTRAS, "en", "Everything but the ham", undefined],
  [EXTRAS, "en", "No ham", undefined],
  [EXTRAS, "de", "keine egg", undefined],
  [EXTRAS, "en", "Cheese", undefined],
  [EXTRAS, "en", "Nothing", []],
  [{ ...EXTRAS, minItems: 1 }, "en", "Nothing", undefined],
  [{ ...EXTRAS, maxItems: 1 }, "en", "Ham and egg", undefined],
  [{ type: "array", items: COLOR }, "en", "dark red and red", ["red", "dark red"]],
  [{ type: "array", items: COLOR }, "en", "dark red", ["dark red"]],
  [{ type: "string", minLength: 2 }, "en", " Ana ", "Ana"],
  [{ type: "string", minLength: 2 }, "en", "A", undefined],
] as const)("for %j, in %s %j is %j", (...row) => {
  const [schema, language, utterance, value] = row;
  const read = readSpokenField(fieldOf(schema), utterance, language);

  expect(read.kind === "value" ? read.value : undefined).toEqual(value);
});

test.each([
  ["Never mind", "refused"],
  ["skip", "left_out"],
  ["Skip the first", "value"],
] as const)("for an optional text, %j is %s", (utterance, kind) => {
  expect(readSpokenField(fieldOf({ type: "string" }, false), utterance, "en").kind).toBe(kind);
});

test("a required field cannot be left out", () => {
  expect(readSpokenField(fieldOf(NUMBER), "skip", "en").kind).toBe("invalid");
});

test.each([
  [
    { type: "string", title: "Your name", description: "As in your passport." },
    true,
    "en",
    "Your name? As in your passport.",
  ],
  [COLOR, true, "en", "it? red, dark red, or green?"],
  [{ ...EXTRAS, title: "What on top" }, true, "en", "What on top? You can name several: ham, egg, and goat cheese?"],
  [
    { ...EXTRAS, title: "Was dazu" },
    false,
    "de",
    "Was dazu? Sie können mehrere nennen: ham, egg und goat cheese? Sie können „weiter“ sagen.",
  ],
  [{ ...COLOR, title: "Welche Farbe?" }, true, "de", "Welche Farbe? red, dark red oder green?"],
  [{ type: "boolean", title: "Really" }, false, "fr", "Really? Oui ou non ? Vous pouvez dire « suivant »."],
])("%j (required: %s) is asked in %s as %j", (...row) => {
  const [schema, isRequired, language, question] = row;

  expect(toFieldQuestion(fieldOf(schema, isRequired), language)).toBe(question);
});
