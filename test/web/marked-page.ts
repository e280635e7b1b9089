import { execFile } from "node:child_process";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { VITE } from "../../scripts/ensure-page.ts";

const CONFIG = join(import.meta.dirname, "../fixtures/page/marked/vite.config.ts");

/** Builds the page with marked texts, from right to left, into a folder. Returns the path of its script. */
export async function buildMarkedPage(folder: string): Promise<string> {
  const args = [VITE, "build", "web", "--config", CONFIG, "--outDir", folder, "--logLevel", "warn"];
  const env = { ...process.env, NODE_ENV: "production" };
  await promisify(execFile)(process.execPath, args, { cwd: join(import.meta.dirname, "../.."), env });
  const [script = ""] = await Array.fromAsync(glob(join(folder, "assets/index-*.js")));
  return script;
}

/**
 * A script that records, on each change and also over reloads, texts of the page without marks, after `others` have
 * been removed. Skips what is code, keys, a time, the name of a language or a device, or what the model or the worker
 * says.
 */
export const recordUnmarked = (others: readonly string[]): string => `(() => {
  const others = ${JSON.stringify(others.toSorted((left, right) => right.length - left.length))};
  const SKIPPED = ["script, style, noscript, pre, code, kbd, time, option, textarea", ".markdown, .event-list"].join();
  const ATTRIBUTES = ["title", "aria-label", "placeholder", "alt", "aria-description"];
  const unmarked = new Set(JSON.parse(sessionStorage.getItem("unmarked") ?? "[]"));
  const bare = (text) => {
    let rest = text.replaceAll("\\\\u200b", "\\u200b").replaceAll("\\\\u00ad", "\\u00ad");
    for (let before; before !== rest; ) {
      before = rest;
      rest = rest.replaceAll(/\\u200b[^\\u200b\\u00ad]*\\u00ad/gu, "");
    }
    for (const other of others) rest = rest.replaceAll(other, "");
    // Dates and times, in English.
    return rest.replaceAll(/[A-Z][a-z]{2} \\d+, \\d{4}, [\\d:]+\\s[AP]M/gu, "");
  };
  const check = (text, where) => {
    if (!/\\p{L}/u.test(bare(text))) return;
    unmarked.add(where + ": " + text);
    sessionStorage.setItem("unmarked", JSON.stringify([...unmarked]));
  };
  const look = () => {
    check(document.title, "title");
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { data, parentElement } = walker.currentNode;
      if (!parentElement.closest(SKIPPED)) check(data, parentElement.tagName + "." + parentElement.className);
    }
    for (const name of ATTRIBUTES)
      for (const element of document.querySelectorAll("[" + name + "]"))
        if (!element.closest(".event-list")) check(element.getAttribute(name), element.tagName + " " + name);
  };
  const start = () => {
    new MutationObserver(look).observe(document, {
      subtree: true, childList: true, characterData: true, attributeFilter: ATTRIBUTES,
    });
    look();
  };
  if (document.body) start();
  else document.addEventListener("DOMContentLoaded", start);
})()`;

/** Returns the texts that have been recorded in this tab. */
export const unmarkedTexts = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(`JSON.parse(sessionStorage.getItem("unmarked") ?? "[]")`);
