import axe from "axe-core";
import type { Page } from "playwright-core";

const COLORS = [
  { colorScheme: "dark", forcedColors: "none" },
  { colorScheme: "light", forcedColors: "active" },
] as const;

/** What axe finds wrong with the page as it is now, in light, dark and forced colors, each with its element. */
export async function findingsOf(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const findings = [...(await run(page))];
  for (const colors of COLORS) {
    await page.emulateMedia(colors);
    // Nothing else depends on colors.
    findings.push(...(await run(page, "color-contrast")));
  }
  await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
  return findings;
}

async function run(page: Page, rule?: string): Promise<readonly string[]> {
  // What fades in has its colors afterwards.
  await page.evaluate(
    "Promise.all(document.getAnimations().map((each) => each.finish?.call && each.effect.getComputedTiming().iterations !== Infinity ? each.finish() : undefined))",
  );
  // By itself it leaves out the rules that only WCAG 2.2 has.
  const options = rule === undefined ? { rules: { "target-size": { enabled: true } } } : { runOnly: [rule] };
  const { violations } = await page.evaluate<{
    violations: readonly { id: string; nodes: readonly { html: string; failureSummary: string }[] }[];
  }>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
