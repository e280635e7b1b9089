import { readYesOrNo, spokenAnswersOf, toWords } from "../../permission/spoken-answers.ts";
import type { FieldValue, FormField } from "../../protocol/forms/form.ts";
import { formWordsOf } from "./form-words.ts";

/** What somebody has said to the question for one field. `problem` is for an English ear. */
export type SpokenField =
  | { readonly kind: "value"; readonly value: FieldValue }
  | { readonly kind: "left_out" | "refused" }
  | { readonly kind: "misfit"; readonly problem?: string };

/** The question for a field, as it is said: "Which size? Small, medium or large?" */
export function toFieldQuestion(field: FormField, language: string | undefined): string {
  const { type, label, description, choices, isRequired } = field;
  const asked = [label, description].flatMap((text) => (text?.trim() ? withMark(text.trim()) : []));
  if (type === "boolean") asked.push(spokenAnswersOf(language).question);
  if (type === "choice") asked.push(`${toList(choices, language)}?`);
  if (!isRequired) asked.push(formWordsOf(language).optional);
  return asked.join(" ");
}

/**
 * Reads an utterance, by fixed rules, as the answer for a field: a yes or a no, the one choice whose words it contains,
 * the one number in it, or the text as it is. A whole utterance may also refuse the form, or leave out a field.
 */
export function readSpokenField(field: FormField, utterance: string, language: string | undefined): SpokenField {
  const words = formWordsOf(language);
  const said = toWords(utterance).join(" ");
  const value = toValue(field, utterance, language);
  if (words.refuse.includes(said)) return { kind: "refused" };
  if (!field.isRequired && words.leaveOut.includes(said)) return { kind: "left_out" };
  if (value === undefined) return { kind: "misfit" };
  const problem = field.check(value);
  return problem === undefined ? { kind: "value", value } : { kind: "misfit", problem };
}

function toValue(field: FormField, utterance: string, language: string | undefined): FieldValue | undefined {
  switch (field.type) {
    case "string":
      return utterance.trim() || undefined;
    case "boolean": {
      const answer = readYesOrNo(utterance, language);
      return answer && answer === "yes";
    }
    case "choice":
      return toChoice(field, utterance);
    case "number":
    case "integer":
      return toNumber(utterance, language);
  }
}

/** The only choice whose words stand in the utterance, one behind the other: "dark red" is not also "red". */
function toChoice({ choices }: FormField, utterance: string): string | number | undefined {
  const said = ` ${toWords(utterance).join(" ")} `;
  const named = choices.flatMap(({ value, label }) => {
    const names = [label, String(value)].map((text) => ` ${toWords(text).join(" ")} `);
    const words = names.find((each) => each.trim() !== "" && said.includes(each));
    return words === undefined ? [] : [{ value, words }];
  });
  const whole = named.filter(
    ({ words }) => !named.some((other) => other.words !== words && other.words.includes(words)),
  );
  return whole.length === 1 ? whole[0]?.value : undefined;
}

/** The only number of an utterance, in digits as the language writes them; or a word for a small number. */
function toNumber(utterance: string, language: string | undefined): number | undefined {
  const parts = new Intl.NumberFormat(toLocale(language)).formatToParts(1_234_567.8);
  const mark = (type: "group" | "decimal") => parts.find((part) => part.type === type)?.value ?? "";
  const plain = utterance.replaceAll(mark("group"), "").replaceAll(mark("decimal"), ".");
  const numbers = plain.match(/-?\d+(?:\.\d+)?/g) ?? [];
  if (numbers.length > 0) return numbers.length === 1 ? Number(numbers[0]) : undefined;
  // By itself only: "twenty two" is not two.
  const named = formWordsOf(language).numbers.indexOf(toWords(utterance).join(" "));
  return named < 0 ? undefined : named;
}

function withMark(text: string): string {
  return /[.!?:。！？]$/u.test(text) ? text : `${text}?`;
}

function toList(choices: FormField["choices"], language: string | undefined): string {
  const list = new Intl.ListFormat(toLocale(language), { type: "disjunction" });
  return list.format(choices.map(({ label }) => label));
}

/** English for a tag that cannot be read: a participant may name any. */
function toLocale(language: string | undefined): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? "en";
  } catch {
    return "en";
  }
}
