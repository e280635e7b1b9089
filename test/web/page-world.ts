import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { RoomServiceClient } from "livekit-server-sdk";
import { onTestFinished } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text } from "../../src/model-server/step.ts";
import type { ModelServer } from "../../src/model-server/model-server.ts";
import { startChromium } from "../support/servers/chromium.ts";
import { TcpProxy } from "../support/servers/tcp-proxy.ts";
import type { RunningMain } from "../worker/support/run-main.ts";
import { WorkerParts } from "../worker/support/worker-parts.ts";

const SECRET = "secret-of-the-test";
/** Pictures for docs/images are taken only on demand, because they differ from run to run. */
const PICTURES = process.env["PICTURES"];

interface WorldOptions {
  /** A WAV file that microphones play. */
  readonly spoken?: string;
  /** Additional environment variables for the worker. */
  readonly env?: NodeJS.ProcessEnv;
  /** The path of a script that browsers get instead of the page's. */
  readonly script?: string;
}

interface OpenOptions extends BrowserContextOptions {
  /** @defaultValue the worker's address */
  readonly url?: string | undefined;
}

interface JoinOptions extends BrowserContextOptions {
  readonly name?: string;
  readonly room?: string;
  /** Whether to join with an open microphone. @defaultValue false */
  readonly talks?: boolean;
  /** Whether to wait until an agent has received the page's Configuration. @defaultValue true */
  readonly waits?: boolean;
  /** Device tools to switch on. */
  readonly devices?: readonly string[];
  /** A script that runs on each load, before the page's own scripts. */
  readonly before?: string;
}

type Parts = Pick<PageWorld, "url" | "parts" | "network" | "worker"> & {
  readonly browser: Browser;
  readonly env: NodeJS.ProcessEnv;
  readonly script: string | undefined;
};

/** A real worker with its page, a real LiveKit and a real Chromium. Only the model is simulated. */
export class PageWorld implements AsyncDisposable {
  /** The newest worker's address. */
  url: string;
  readonly parts: WorkerParts;
  /** The proxy between the browser and LiveKit. */
  readonly network: TcpProxy;
  worker: RunningMain;
  readonly #browser: Browser;
  readonly #env: NodeJS.ProcessEnv;
  readonly #script: string | undefined;
  /** Set once the world has started. Until then, `start` cleans up after a failure. */
  #cleanup: AsyncDisposableStack | undefined;
  /** What the browser reported as problems, in all pages. */
  readonly complaints: string[] = [];
  /** Hosts that pages have sent requests to. */
  readonly hosts = new Set<string>();

  private constructor({ browser, env, script, ...parts }: Parts) {
    ({ url: this.url, parts: this.parts, network: this.network, worker: this.worker } = parts);
    this.#browser = browser;
    this.#env = env;
    this.#script = script;
  }

  static async start({ spoken, env: more, script }: WorldOptions = {}): Promise<PageWorld> {
    await using starting = new AsyncDisposableStack();
    const [parts, browser] = await Promise.all([WorkerParts.start(), startChromium(spoken)]);
    starting.use(parts);
    starting.defer(() => browser.close());
    const network = starting.use(await TcpProxy.start(parts.livekit.url));
    const env = {
      PARLEY_CONFIG: "test/fixtures/page/parley.config.ts",
      TOKEN_SECRET: SECRET,
      LIVEKIT_PUBLIC_URL: network.url,
      ...more,
    };
    const worker = await parts.run({ env });
    const { httpUrl: url = "" } = await worker.ready;
    const world = new PageWorld({ url, parts, network, worker, browser, env, script });
    await world.#warmUp();
    world.#cleanup = starting.move();
    return world;
  }

  /** Plays a first turn in a first page. Both are slow, and their time should not count against that of a test. */
  async #warmUp(): Promise<void> {
    const page = await this.#newPage({});
    // The same timeout as that of the hook that starts the world.
    page.setDefaultTimeout(60_000);
    await page.goto(this.url);
    await this.#enter(page, "first", false);
    this.model.script([reply([text("Good morning.")])]);
    await say(page, "Hello");
    await page.getByText("Good morning.", { exact: true }).waitFor();
    await page.context().close();
  }

  /** Starts another worker at another address. Open pages continue with the new worker. */
  async startWorker(): Promise<void> {
    this.worker = await this.parts.run({ env: this.#env });
    ({ httpUrl: this.url = "" } = await this.worker.ready);
  }

  /** The headers that `POST /token` requires. */
  get headers(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${SECRET}` };
  }

  readonly secret = SECRET;

  get model(): ModelServer {
    return this.parts.model;
  }

  /** Opens a tab without any stored data. */
  async open({ url = this.url, ...context }: OpenOptions = {}): Promise<Page> {
    const page = await this.#newPage(context);
    this.#endWithTest(page);
    await page.goto(url);
    return page;
  }

  /**
   * Ends a test's session. Otherwise, a call that was left waiting would end during a later test, and call the model.
   */
  #endWithTest(page: Page, room?: string): void {
    const { url, apiKey, apiSecret } = this.parts.livekit;
    onTestFinished(async ({ task }) => {
      if (task.result?.state === "fail") {
        const shown = await page.innerText("body").catch(String);
        process.stderr.write(`${page.url()} shows:\n${shown}\n`);
      }
      await page.context().close();
      // Another page in the same room may have deleted the room already.
      if (room !== undefined) await new RoomServiceClient(url, apiKey, apiSecret).deleteRoom(room).catch(() => {});
      this.model.forget();
    });
  }

  async #newPage(options: BrowserContextOptions): Promise<Page> {
    const context = await this.#browser.newContext({ viewport: { width: 1_280, height: 800 }, ...options });
    const page = await context.newPage();
    const path = this.#script;
    // Only the script: Chromium would not let a page that does not come from this machine connect to LiveKit here.
    if (path !== undefined) await page.route(/\/assets\/index-[^/]*\.js$/u, (route) => route.fulfill({ path }));
    // The same timeout as that of a test.
    page.setDefaultTimeout(20_000);
    page.on("console", (line) => {
      if (line.type() === "error") this.complaints.push(line.text());
    });
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("request", (request) => this.hosts.add(new URL(request.url()).hostname));
    return page;
  }

  /** Opens a tab and joins a session. */
  async join(options: JoinOptions = {}): Promise<Page> {
    const {
      name = "Ann",
      room = `page-${createId()}`,
      devices = [],
      talks = false,
      waits = true,
      before,
      ...context
    } = options;
    const switches = JSON.stringify(Object.fromEntries(devices.map((device) => [device, true])));
    const localStorage = [{ name: "parley.device", value: switches }];
    const page = await this.#newPage({
      storageState: { cookies: [], origins: [{ origin: this.url, localStorage }] },
      ...context,
    });
    this.#endWithTest(page, room);
    if (before !== undefined) await page.addInitScript(before);
    await page.goto(`${this.url}/?room=${encodeURIComponent(room)}`);
    await this.#enter(page, name, talks);
    if (waits) await page.getByText(talks ? "The agent: Listening" : "The agent: Ready").waitFor();
    return page;
  }

  /** Fills in the form with the keyboard only: a name, and the secret if the worker asks for it. */
  async #enter(page: Page, name: string, talks: boolean): Promise<void> {
    await page.getByLabel("Your name").waitFor();
    await page.keyboard.type(name);
    await page.keyboard.press("Enter");
    await page.getByLabel("The worker's secret").fill(SECRET);
    if (talks) await page.keyboard.press("Enter");
    else await page.getByRole("button", { name: "Only type" }).press("Enter");
  }

  /** Takes a picture for docs/images/ when `PICTURES` is set. */
  async picture(page: Page, name: string): Promise<void> {
    if (PICTURES === undefined) return;
    // Transitions are shown in their final state.
    await page.screenshot({ animations: "disabled", path: join(import.meta.dirname, `../../docs/images/${name}.png`) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup?.disposeAsync();
  }
}

/** Shows the cards of calls that have succeeded. */
export async function openCalls(page: Page): Promise<void> {
  const folds = page.locator(".fold[aria-expanded=false]");
  await folds.first().waitFor();
  for (const fold of await folds.all()) await fold.click();
}

export async function openPanel(page: Page, name: "Conversations" | "Settings"): Promise<void> {
  await page.getByRole("button", { name, expanded: false }).click();
}

/** Opens a tab of the panel for developers, which a switch under Settings turns on. */
export async function openDeveloper(page: Page, tab: "Turn" | "Events" | "Session"): Promise<void> {
  const opener = page.getByRole("button", { name: "Developer" });
  if ((await opener.count()) === 0) {
    const settings = page.getByRole("button", { name: "Settings", expanded: false });
    if ((await settings.count()) > 0) await settings.click();
    await page.getByRole("switch", { name: "Developer view" }).check();
  }
  if ((await opener.getAttribute("aria-expanded")) === "false") await opener.click();
  await page.getByRole("tab", { name: tab }).click();
}

/** What the model asks with `ask_user`. */
export const DRINK = {
  message: "Tea or coffee?",
  requestedSchema: {
    type: "object",
    properties: { drink: { type: "string", title: "Drink", enum: ["Tea", "Coffee"] } },
    required: ["drink"],
  },
};

export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}
