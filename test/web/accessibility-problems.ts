import axe from "axe-core";
import type { Page } from "playwright-core";

const COLORS = [
  { colorScheme: "dark", forcedColors: "none" },
  { colorScheme: "light", forcedColors: "active" },
] as const;

/**
 * Returns the problems that axe finds in the page as it is now, each with its element. Checks light, dark and forced
 * colors.
 */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const findings = [...(await run(page))];
  for (const colors of COLORS) {
    await page.emulateMedia(colors);
    // Only the contrast depends on colors.
    findings.push(...(await run(page, "color-contrast")));
  }
  await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
  return findings;
}

async function run(page: Page, rule?: string): Promise<readonly string[]> {
  // Elements that fade in have their final colors only afterwards.
  await page.evaluate(
    "Promise.all(document.getAnimations().map((each) => each.finish?.call && each.effect.getComputedTiming().iterations !== Infinity ? each.finish() : undefined))",
  );
  // By default, axe skips the rules that only WCAG 2.2 contains.
  const options = rule === undefined ? { rules: { "target-size": { enabled: true } } } : { runOnly: [rule] };
  const { violations } = await page.evaluate<{
    violations: readonly { id: string; nodes: readonly { html: string; failureSummary: string }[] }[];
  }>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
