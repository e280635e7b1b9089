import type { Page } from "playwright-core";

/** Elements whose content is wider than they are, except for those that scroll sideways or truncate by design. */
const OVERFLOWING = `[...document.querySelectorAll(".page *, .join *, dialog *")]
  .filter((element) => element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1)
  .filter((element) => !["hidden", "clip"].includes(getComputedStyle(element).overflowX))
  .filter((element) => !element.matches("pre, .table, textarea, input, select, meter, .visually-hidden"))
  .map((element) => element.tagName + "." + element.className + " " + element.scrollWidth + " in " + element.clientWidth)`;

/** Returns the elements that overflow in the page as it is now. */
export const overflowing = (page: Page): Promise<readonly string[]> => page.evaluate<readonly string[]>(OVERFLOWING);
