import { join } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { ensurePage } from "../../scripts/ensure-page.ts";
import { createId } from "../../src/lib/id.ts";
import { type ModelServer } from "../../src/testing/model-server/model-server.ts";
import { startChromium } from "../support/servers/chromium.ts";
import { WorkerParts } from "../worker/support/worker-parts.ts";

const SECRET = "secret-of-the-test";
/** Pictures for docs/images are made on demand, for they are never the same to the byte. */
const PICTURES = process.env["PICTURES"];

interface JoinOptions extends BrowserContextOptions {
  readonly name?: string;
  readonly room?: string;
  /** Device tools to switch on. */
  readonly devices?: readonly string[];
}

/** A real worker with its page, a real LiveKit and a real Chromium; only the model is a stand-in. */
export class PageWorld implements AsyncDisposable {
  readonly url: string;
  readonly parts: WorkerParts;
  readonly #browser: Browser;
  readonly #cleanup: AsyncDisposableStack;
  /** What the browser complained of, in all pages. */
  readonly complaints: string[] = [];
  /** Hosts that pages have asked for something. */
  readonly hosts = new Set<string>();

  private constructor(url: string, parts: { parts: WorkerParts; browser: Browser }, cleanup: AsyncDisposableStack) {
    this.url = url;
    this.parts = parts.parts;
    this.#browser = parts.browser;
    this.#cleanup = cleanup;
  }

  static async start(): Promise<PageWorld> {
    await using starting = new AsyncDisposableStack();
    const [parts, browser] = await Promise.all([WorkerParts.start(), startChromium(), ensurePage()]);
    starting.use(parts);
    starting.defer(() => browser.close());
    const env = { PARLEY_CONFIG: "test/fixtures/page/parley.config.ts", TOKEN_SECRET: SECRET };
    const main = await parts.run({ env });
    const { httpUrl = "" } = await main.ready;
    return new PageWorld(httpUrl, { parts, browser }, starting.move());
  }

  /** With which `POST /token` answers. */
  get headers(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${SECRET}` };
  }

  get model(): ModelServer {
    return this.parts.model;
  }

  /** A tab with nothing remembered. */
  async open(options: BrowserContextOptions = {}, url = this.url): Promise<Page> {
    const context = await this.#browser.newContext({ viewport: { width: 1_280, height: 800 }, ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    page.on("console", (line) => {
      if (line.type() === "error") this.complaints.push(line.text());
    });
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("request", (request) => this.hosts.add(new URL(request.url()).hostname));
    await page.goto(url);
    return page;
  }

  /** A tab in a talk, with an agent that knows it. */
  async join(options: JoinOptions = {}): Promise<Page> {
    const { name = "Ann", room = `page-${createId()}`, devices = [], ...context } = options;
    const page = await this.open(context, `${this.url}/?room=${encodeURIComponent(room)}`);
    for (const device of devices)
      await page.evaluate(`localStorage.setItem("parley.device", JSON.stringify({ ${JSON.stringify(device)}: true }))`);
    if (devices.length > 0) await page.reload();
    await this.fillIn(page, name);
    await page.getByText("The agent: Listening").waitFor();
    return page;
  }

  /** The form, by keyboard alone: a name, and the secret once the worker asks for it. */
  async fillIn(page: Page, name: string): Promise<void> {
    await page.getByLabel("Your name").waitFor();
    await page.keyboard.type(name);
    await page.keyboard.press("Enter");
    await page.getByLabel("The worker's secret").fill(SECRET);
    await page.keyboard.press("Enter");
  }

  /** A picture for docs/images/, when `PICTURES` is set. */
  async picture(page: Page, name: string): Promise<void> {
    if (PICTURES === undefined) return;
    await page.screenshot({ path: join(import.meta.dirname, `../../docs/images/${name}.png`) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup.disposeAsync();
  }
}

export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

/** What axe finds wrong, each with the elements that it is about. */
export async function findingsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  // What fades in has its colours afterwards.
  await page.evaluate(
    "Promise.all(document.getAnimations().map((each) => each.finish?.call && each.effect.getComputedTiming().iterations !== Infinity ? each.finish() : undefined))",
  );
  const { violations } = await page.evaluate<{
    violations: readonly { id: string; nodes: readonly { html: string; failureSummary: string }[] }[];
  }>("axe.run(document)");
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
