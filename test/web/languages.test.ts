import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { accessibilityProblems } from "./accessibility-problems.ts";
import { overflowing } from "./overflowing.ts";
import { PageWorld } from "./page-world.ts";

const world = forFile(() => PageWorld.start());

const languageOf = (page: Page) => page.evaluate("document.documentElement.lang");

test("the page speaks the first of the browser's languages that it has, otherwise English", async () => {
  for (const [locale, title, language] of [
    ["de-AT", "Mit Parley sprechen", "de"],
    ["pt-BR", "Talk with Parley", "en"],
  ] as const) {
    const page = await world.open({ locale });
    await page.getByRole("heading", { name: title }).waitFor();
    expect(await languageOf(page)).toBe(language);
  }
});

/** What is said in each language by the join form, the badge, the composer, Settings, and a title. */
const LANGUAGES = [
  ["de-DE", "Ihr Name", "Nur schreiben", "Wartet auf Sie", "Nachricht", "Einstellungen", "Einmal erlauben"],
  ["fr-FR", "Votre nom", "Écrire seulement", "Vous attend", "Message", "Paramètres", "Autoriser une fois"],
  ["es-ES", "Tu nombre", "Solo escribir", "Te está esperando", "Mensaje", "Ajustes", "Permitir una vez"],
  ["ja-JP", "お名前", "文字だけで参加", "お返事を待っています", "メッセージ", "設定", "今回だけ許可"],
] as const;

test.each(LANGUAGES)("in %s, a whole conversation fits on a phone", async (locale, ...words) => {
  const [name, onlyType, waiting, message, settings, allow] = words;
  const page = await world.open({ locale, viewport: { width: 375, height: 667 } });
  await page.getByLabel(name).fill("Ann");
  await page.getByRole("button", { name: onlyType }).click();
  await page.locator("input[type=password]").fill(world.secret);
  expect(await overflowing(page)).toEqual([]);
  await page.getByRole("button", { name: onlyType }).click();
  world.model.script([reply([toolUse("calculator", { expression: "21 * 2" })]), reply([text("Fine.")])]);
  await page.getByRole("textbox", { name: message, exact: true }).fill("21 * 2?");
  await page.keyboard.press("Enter");

  const dialog = page.getByRole("alertdialog");
  await dialog.getByRole("button", { name: allow, disabled: false }).waitFor();
  expect(await page.title()).toBe(`${waiting} – Parley`);
  expect(await overflowing(page)).toEqual([]);
  expect(await accessibilityProblems(page)).toEqual([]);
  await dialog.getByRole("button", { name: allow, disabled: false }).click();
  await page.getByText("Fine.", { exact: true }).waitFor();
  await page.getByRole("button", { name: settings }).click();
  expect(await overflowing(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
});

test("another language is chosen under Settings, at once and for the next time, with its dates and numbers", async () => {
  const page = await world.join();
  world.model.script([reply([text("Fine.")])]);
  await page.getByLabel("Message", { exact: true }).fill("21 * 2?");
  await page.keyboard.press("Enter");
  await page.getByText("Fine.", { exact: true }).waitFor();
  const [at = ""] = await page.locator(".message time").evaluateAll((all) => all.map((each) => each.dateTime));
  await page.getByRole("button", { name: "Settings" }).click();

  await page.getByRole("combobox", { name: "Language of this page" }).selectOption("Deutsch");

  await page.getByRole("heading", { name: "Einstellungen" }).waitFor();
  expect(await languageOf(page)).toBe("de");
  expect(await page.locator(".message .who").allTextContents()).toEqual(["Sie", "Agent"]);
  const time = await page.evaluate(`new Intl.DateTimeFormat("de", { timeStyle: "short" }).format(new Date("${at}"))`);
  expect(await page.locator(".message time").first().textContent()).toBe(time);
  await page.getByRole("switch", { name: "Entwickleransicht" }).check();
  await page.getByRole("button", { name: "Entwickler", exact: true }).click();
  await page
    .locator(".trend")
    .filter({ hasText: "Ganze Runde" })
    .getByText(/^\d+(,\d\d)? m?s$/u)
    .waitFor();
  await page.reload();
  await page.getByText("Der Agent: Bereit").waitFor();
  expect(await languageOf(page)).toBe("de");
});
