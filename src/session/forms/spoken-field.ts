import { readYesOrNo, spokenAnswersOf, toWords } from "../../permission/spoken-answers.ts";
import type { FieldValue, FormChoice, FormField } from "../../protocol/forms/form.ts";
import { formWordsOf } from "./form-words.ts";

/** A spoken answer to the question for one field. `problem` is in English. */
export type SpokenField =
  | { readonly kind: "value"; readonly value: FieldValue }
  | { readonly kind: "left_out" | "refused" }
  | { readonly kind: "invalid"; readonly problem?: string };

/** Returns the spoken question for a field: "Which size? Small, medium or large?" */
export function toFieldQuestion(field: FormField, language: string | undefined): string {
  const { type, label, description, choices, isRequired } = field;
  const asked = [label, description].flatMap((text) => (text?.trim() ? withMark(text.trim()) : []));
  if (type === "boolean") asked.push(spokenAnswersOf(language).question);
  if (type === "choices") asked.push(formWordsOf(language).several);
  if (choices.length > 0) asked.push(`${toList(field, language)}?`);
  if (!isRequired) asked.push(formWordsOf(language).optional);
  return asked.join(" ");
}

/**
 * Reads an utterance as the answer for a field, by fixed rules. Depending on the field's type, the answer is a yes or
 * no, the only choice mentioned (for a list, all choices mentioned), the only number, or the text itself. The whole
 * utterance may also be a phrase that refuses the form or skips the field.
 */
export function readSpokenField(field: FormField, utterance: string, language: string | undefined): SpokenField {
  const words = formWordsOf(language);
  const said = toWords(utterance).join(" ");
  const value = toValue(field, utterance, language);
  if (words.refuse.includes(said)) return { kind: "refused" };
  if (!field.isRequired && words.skip.includes(said)) return { kind: "left_out" };
  if (value === undefined) return { kind: "invalid" };
  const problem = field.check(value);
  return problem === undefined ? { kind: "value", value } : { kind: "invalid", problem };
}

function toValue(field: FormField, utterance: string, language: string | undefined): FieldValue | undefined {
  switch (field.type) {
    case "string":
      return utterance.trim() || undefined;
    case "boolean": {
      const answer = readYesOrNo(utterance, language);
      return answer && answer === "yes";
    }
    case "choice": {
      const [value, ...others] = namedChoices(field, utterance).values;
      return others.length === 0 ? value : undefined;
    }
    case "choices":
      return toChosen(field, utterance, language);
    case "number":
    case "integer":
      return toNumber(utterance, language);
  }
}

interface Named {
  readonly values: readonly FormChoice["value"][];
  /** The other words in the utterance. */
  readonly rest: readonly string[];
}

/**
 * Returns the choices mentioned in the utterance. The longest are matched first: "dark red" does not count as "red".
 */
function namedChoices({ choices }: FormField, utterance: string): Named {
  const names = choices.flatMap((choice) =>
    [choice.label, String(choice.value)].map((text) => ({ choice, words: ` ${toWords(text).join(" ")} ` })),
  );
  const byWords = [...Map.groupBy(names, ({ words }) => words)].filter(([words]) => words.trim() !== "");
  const named = new Set<FormChoice>();
  let rest = ` ${toWords(utterance).join(" ")} `;
  for (const [words, all] of byWords.toSorted(([one], [other]) => other.length - one.length)) {
    if (!rest.includes(words)) continue;
    for (const { choice } of all) named.add(choice);
    // Two spaces, so that the words on both sides do not become neighbors.
    rest = rest.replaceAll(words, "  ");
  }
  const values = choices.filter((choice) => named.has(choice)).map(({ value }) => value);
  return { values, rest: rest.split(" ") };
}

/**
 * Reads several choices, or words for all or none of them. "All but the red one" and "not the red one" are not
 * understood.
 */
function toChosen(field: FormField, utterance: string, language: string | undefined): FieldValue | undefined {
  const { all, skip } = formWordsOf(language);
  const { values, rest } = namedChoices(field, utterance);
  const isAnyOf = (words: readonly string[]) => rest.some((word) => words.includes(word));
  if (values.length > 0) return isAnyOf([...all, ...skip, ...spokenAnswersOf(language).no]) ? undefined : values;
  if (isAnyOf(all)) return field.choices.map(({ value }) => value);
  return skip.includes(rest.join(" ").trim()) ? [] : undefined;
}

/** Reads the only number in an utterance: digits in the language's own format, or a word for a small number. */
function toNumber(utterance: string, language: string | undefined): number | undefined {
  const parts = new Intl.NumberFormat(toLocale(language)).formatToParts(1_234_567.8);
  const mark = (type: "group" | "decimal") => parts.find((part) => part.type === type)?.value ?? "";
  const plain = utterance.replaceAll(mark("group"), "").replaceAll(mark("decimal"), ".");
  const numbers = plain.match(/-?\d+(?:\.\d+)?/g) ?? [];
  if (numbers.length > 0) return numbers.length === 1 ? Number(numbers[0]) : undefined;
  // The word must be the whole utterance: "twenty two" is not two.
  const named = formWordsOf(language).numbers.indexOf(toWords(utterance).join(" "));
  return named < 0 ? undefined : named;
}

function withMark(text: string): string {
  return /[.!?:。！？]$/u.test(text) ? text : `${text}?`;
}

function toList({ choices, type }: FormField, language: string | undefined): string {
  const list = new Intl.ListFormat(toLocale(language), { type: type === "choice" ? "disjunction" : "conjunction" });
  return list.format(choices.map(({ label }) => label));
}

/** Returns a valid locale for a language. Clients may send any tag; an invalid one counts as English. */
function toLocale(language: string | undefined): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? "en";
  } catch {
    return "en";
  }
}
