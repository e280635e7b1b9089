import { spokenAnswersOf } from "../../permission/spoken-answers.ts";

/** What is asked for, as it is said in a language: "Write notes/today.md. Yes or no?" */
export function toSpokenQuestion(title: string, language: string | undefined): string {
  const stop = /[.!?。！？]$/u.test(title) ? "" : ".";
  return `${title}${stop} ${spokenAnswersOf(language).question}`;
}
