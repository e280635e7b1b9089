import { watchedValue } from "../watched-value.ts";
import { en, type Words } from "./en.ts";

export type { Words } from "./en.ts";

/** The page's languages, each with its own name. */
export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", es: "Español", ja: "日本語" } as const;
export type Language = keyof typeof LANGUAGES;

/** Languages other than English are loaded when they are chosen. */
const LOADERS: Readonly<Record<Language, () => Promise<Words>>> = {
  en: async () => en,
  de: async () => (await import("./de.ts")).de,
  fr: async () => (await import("./fr.ts")).fr,
  es: async () => (await import("./es.ts")).es,
  ja: async () => (await import("./ja.ts")).ja,
};

const KEY = "parley.language";

interface Shown {
  readonly language: Language;
  readonly words: Words;
}

const shown = watchedValue<Shown>({ language: "en", words: en });

/** Returns what the page says, in its language. */
export function useWords(): Words {
  return shown.use().words;
}

/** Like `useWords`, for a text that is made outside of a component and then stays as it is, such as an error. */
export function getWords(): Words {
  return shown.get().words;
}

export function useLanguage(): Language {
  return shown.use().language;
}

/** Returns the page's language, with the region that the browser prefers for it, for dates and numbers. */
export function getLocale(): string {
  const { language } = shown.get();
  return navigator.languages.find((tag) => languageOf(tag) === language) ?? language;
}

/** Shows the page in the language that the person has chosen, or else in the first of the browser's that there is. */
export async function showPreferredLanguage(): Promise<void> {
  const tags = [localStorage.getItem(KEY) ?? "", ...navigator.languages];
  // If the language cannot be loaded, the page is in English.
  await show(tags.map(languageOf).find((language) => language !== undefined) ?? "en").catch(() => {});
}

/** Shows the page in this language, also when it is opened again. Rejects if the language cannot be loaded. */
export async function chooseLanguage(language: Language): Promise<void> {
  await show(language);
  localStorage.setItem(KEY, language);
}

async function show(language: Language): Promise<void> {
  const words = await LOADERS[language]();
  shown.set({ language, words });
  const { documentElement: root } = document;
  root.lang = language;
  root.dir = words.direction;
}

/** `de-AT` → `de`. Returns `undefined` for a language that the page does not have. */
function languageOf(tag: string): Language | undefined {
  const [language = ""] = tag.toLowerCase().split("-");
  return Object.hasOwn(LANGUAGES, language) ? (language as Language) : undefined;
}
