import type { ReactNode } from "react";
import { chooseLanguage, type Language, LANGUAGES, useLanguage, useWords } from "../shared/words/words.ts";

/** The language of the page's own words. What people say, and what the agent answers, is not affected. */
export function LanguageChoice(): ReactNode {
  const { language: label } = useWords().settings;
  const language = useLanguage();
  return (
    <label className="field">
      {label}
      <select value={language} onChange={({ target: { value } }) => void chooseLanguage(value as Language)}>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
