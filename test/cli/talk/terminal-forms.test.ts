import { expect, test } from "vitest";
import { readForm } from "../../../src/protocol/forms/form.ts";
import { TerminalForms } from "../../../src/cli/talk/terminal-forms.ts";

const FIELDS = readForm({
  properties: {
    name: { type: "string", title: "Your name" },
    age: { type: "integer", minimum: 18, description: "In years" },
    drink: { type: "string", enum: ["tea", "coffee"] },
    note: { type: "string" },
  },
  required: ["name", "age", "drink"],
});

function terminal() {
  const lines: string[] = [];
  const forms = new TerminalForms((line) => lines.push(line.trim()));
  const show = (fields = FIELDS, signal = new AbortController().signal, message = "Who are you?") =>
    forms.show({ message, fields, problem: undefined }, { signal });
  return { forms, lines, show };
}

test("a form is asked field by field, and an invalid answer is asked for again", async () => {
  const { forms, lines, show } = terminal();
  const answer = show();
  for (const line of ["", "Ana", "12", "42", "2", ""]) forms.take(line);

  expect(await answer).toEqual({ action: "accept", content: { name: "Ana", age: 42, drink: "coffee" } });
  expect(lines).toEqual([
    "? Who are you?  [/no refuses]",
    "? Your name (text):",
    "? Your name: expected some text",
    "? age – In years (whole number):",
    "? age: expected a number from 18",
    "? drink (1 tea, 2 coffee):",
    "? note (text, or nothing):",
  ]);
  expect(forms.isAsking).toBe(false);
});

test("for multiple choices, any number of them can be typed, or none", async () => {
  const items = { enum: ["ham", "egg", "rice"] };
  const properties = { top: { type: "array", items, minItems: 1 }, side: { type: "array", items } };
  const { forms, lines, show } = terminal();
  const answer = show(readForm({ properties, required: ["top", "side"] }));
  for (const line of ["", "1, Rice", ""]) forms.take(line);

  expect(await answer).toEqual({ action: "accept", content: { top: ["ham", "rice"], side: [] } });
  expect(lines.slice(1)).toEqual([
    "? top (any of 1 ham, 2 egg, 3 rice; as 1, 2):",
    "? top: expected at least 1 items",
    "? side (any of 1 ham, 2 egg, 3 rice; as 1, 2):",
  ]);
});

test("/no refuses a form", async () => {
  const { forms, show } = terminal();
  const answer = show();
  forms.take("Ana");
  forms.take("/no");

  expect(await answer).toEqual({ action: "decline" });
});

test.each([
  ["is refused", "/no"],
  ["is answered", "Ana"],
])("a line typed ahead when a form %s is used for the next form, or sent as a message", async (_, line) => {
  const { forms, show } = terminal();
  const [first, second] = [show(FIELDS.slice(0, 1)), show(FIELDS.slice(0, 1))];

  for (const typed of [line, "Ben"]) forms.take(typed);

  expect(forms.isAsking).toBe(false);
  expect(await second).toEqual({ action: "accept", content: { name: "Ben" } });
  await first;
});

test.each([
  ["y", { action: "accept", content: {} }],
  ["n", { action: "decline" }],
])("a form without fields is answered by %s", async (line, expected) => {
  const { forms, show } = terminal();
  const answer = show([]);
  forms.take(line);

  expect(await answer).toEqual(expected);
});

test("a withdrawn form is followed by the next one", async () => {
  const { forms, lines, show } = terminal();
  const withdrawn = new AbortController();
  const first = show(FIELDS, withdrawn.signal);
  const second = show(FIELDS.slice(0, 1), undefined, "And you?");
  withdrawn.abort(new Error("The call was cancelled"));

  await expect(first).rejects.toThrow("The call was cancelled");
  forms.take("Ben");
  expect(await second).toEqual({ action: "accept", content: { name: "Ben" } });
  expect(lines.at(-1)).toBe("? Your name (text):");
});
