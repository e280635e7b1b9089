import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { preview } from "vite";
import { expect, test } from "vitest";
import { VITE } from "../../scripts/ensure-page.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { PNG } from "../support/pictures.ts";
import { accessibilityProblems } from "./accessibility-problems.ts";
import { openPanel, PageWorld, say } from "./page-world.ts";

const world = forFile(() => PageWorld.start());
const folder = forFile(tempFolder);

/** The messages in the model's last request. */
const lastMessagesJson = () => JSON.stringify(world.model.requests.at(-1)?.body["messages"]);
const offered = () => JSON.stringify(world.model.requests.at(-1)?.body["tools"]);

test("a tool that is switched off is no longer offered to the model", async () => {
  const page = await world.join();
  world.model.script([reply([text("First.")]), reply([text("Second.")])]);
  await say(page, "One");
  await page.getByText("First.", { exact: true }).waitFor();

  await openPanel(page, "Settings");
  await page.getByRole("switch", { name: /^Notifications/ }).uncheck();
  await say(page, "Two");
  await page.getByText("Second.", { exact: true }).waitFor();

  const offered = world.model.requests.slice(-2).map(({ body }) => JSON.stringify(body["tools"]));
  expect(offered.map((tools) => tools.includes("show_notification"))).toEqual([true, false]);
});

test("tools that are switched on return what only a browser knows: its location, the clipboard, a photo", async () => {
  const page = await world.join({
    devices: ["get_location", "read_clipboard", "take_photo"],
    geolocation: { latitude: 47.5, longitude: 8.75 },
    permissions: ["geolocation", "clipboard-read", "clipboard-write", "camera"],
  });
  await page.evaluate("navigator.clipboard.writeText('three eggs')");
  world.model.script([
    reply([toolUse("get_location"), toolUse("read_clipboard"), toolUse("take_photo")]),
    reply([text("A pattern of eggs, not far.")]),
  ]);

  await say(page, "What do you know?");

  await page.getByText("A pattern of eggs, not far.", { exact: true }).waitFor();
  await page.getByRole("img", { name: "What the camera saw" }).waitFor();
  expect(await page.evaluate("document.querySelector('.display img').naturalWidth")).toBe(640);
  expect(lastMessagesJson()).toContain("47.5");
  expect(lastMessagesJson()).toContain("three eggs");
  expect(lastMessagesJson()).toContain('"media_type":"image/jpeg"');
});

test("an attached picture is sent to the model with the message, and a removed one is not", async () => {
  const page = await world.join();
  world.model.script([reply([text("A dot.")])]);
  const file = (name: string) => ({ name, mimeType: "image/png", buffer: Buffer.from(PNG) });
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles([file("dot.png"), file("other.png")]);
  await page.getByRole("button", { name: "Remove other.png" }).click();

  await say(page, "What is this?");

  await page.getByText("A dot.", { exact: true }).waitFor();
  await page.locator(".message.user").getByText("dot.png").waitFor();
  expect(lastMessagesJson().match(/"media_type":"image\/png"/gu)).toHaveLength(1);
  expect(await page.getByRole("list", { name: "Attached" }).count()).toBe(0);
  // The record contains the picture's name.
  await page.reload();
  await page.locator(".message.user").getByText("dot.png").waitFor();
});

/**
 * Creates a picture in the page that is like a photo: large, and with many colors. Pastes or drops it into the page.
 */
const givePicture = (event: "paste" | "drop") => `(async () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 3000, height: 2000 });
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(3000, 2000);
  for (let start = 0; start < pixels.data.length; start += 65536)
    crypto.getRandomValues(pixels.data.subarray(start, start + 65536));
  context.putImageData(pixels, 0, 0);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  const given = new DataTransfer();
  given.items.add(new File([blob], "photo.png", { type: "image/png" }));
  const at = { bubbles: true, cancelable: true };
  if ("${event}" === "paste")
    document.querySelector("#message").dispatchEvent(new ClipboardEvent("paste", { ...at, clipboardData: given }));
  else document.querySelector("main").dispatchEvent(new DragEvent("drop", { ...at, dataTransfer: given }));
  return blob.size;
})()`;

test.each(["paste", "drop"] as const)(
  "a large picture is attached by a %s, scaled down, and shown as a thumbnail",
  async (event) => {
    const page = await world.join();
    world.model.script([reply([text("Noise.")])]);

    // The picture is larger than an envelope may be.
    expect(await page.evaluate<number>(givePicture(event))).toBeGreaterThan(4_194_304);
    await page.getByRole("list", { name: "Attached" }).locator("img").waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await say(page, "What is this?");

    await page.getByText("Noise.", { exact: true }).waitFor();
    await page.locator(".message.user .attachment img").waitFor();
    const [, sent = ""] = /"data":"([^"]+)"/u.exec(lastMessagesJson()) ?? [];
    const shown = await page.evaluate<readonly number[]>(
      `(async () => { const image = new Image(); image.src = "data:image/jpeg;base64,${sent}"; await image.decode(); return [image.naturalWidth, image.naturalHeight]; })()`,
    );
    expect(shown).toEqual([1_568, 1_045]);
  },
);

test("a file that no model can read is not attached, and the supported types are shown; too large ones stay until one is removed", async () => {
  const page = await world.join();
  const input = page.locator("input[type=file]").first();
  await input.setInputFiles({ name: "letter.docx", mimeType: "application/msword", buffer: Buffer.from("x") });
  await page.getByText("letter.docx cannot be attached. Choose a picture").waitFor();
  expect(await page.getByRole("list", { name: "Attached" }).count()).toBe(0);

  const pdf = (name: string) => ({ name, mimeType: "application/pdf", buffer: Buffer.alloc(2_500_000, "%PDF-1.4 ") });
  await input.setInputFiles([pdf("one.pdf"), pdf("two.pdf")]);
  await page.getByText("5.0 MB in total, but at most 4.0 MB can be sent").waitFor();
  await say(page, "Read them");
  expect(await page.locator(".message").count()).toBe(0);
  await page.getByRole("button", { name: "Remove two.pdf" }).click();
  await page.getByText("The attached files are too large").waitFor({ state: "detached" });
});

const reading = (...calls: readonly ReturnType<typeof toolUse>[]) => [reply([...calls]), reply([text("That is all.")])];

/**
 * Replaces the browser's folder picker, whose buttons no test can press, with a folder in the browser's own storage.
 */
const PICKED = `(async () => {
  const root = await navigator.storage.getDirectory();
  const write = async (folder, name, text) => {
    const file = await (await folder.getFileHandle(name, { create: true })).createWritable();
    await file.write(text);
    await file.close();
  };
  await write(root, "secret.md", "Nobody may read this");
  const notes = await root.getDirectoryHandle("notes", { create: true });
  await write(notes, "today.md", "Buy milk");
  await write(await notes.getDirectoryHandle("old", { create: true }), "last.md", "Bought bread");
  window.showDirectoryPicker = async () => notes;
})()`;

test("the agent lists and reads the selected folder, and nothing outside of it", async () => {
  const page = await world.join({ room: "desk" });
  await page.evaluate(PICKED);
  await openPanel(page, "Settings");
  await page.getByRole("button", { name: "Choose a folder" }).click();
  await page.getByText("Shared: notes.").waitFor();
  world.model.script(
    reading(
      toolUse("list_local_files"),
      toolUse("list_local_files", { path: "old" }),
      toolUse("list_local_files", { path: "new" }),
      toolUse("read_local_file", { filePath: "old/last.md" }),
      toolUse("read_local_file", { filePath: "../secret.md" }),
      toolUse("read_local_file", { filePath: "old" }),
    ),
  );

  await say(page, "What is in my notes?");
  await page.getByText("That is all.", { exact: true }).waitFor();

  const results = world.model.requests.at(-1)?.body["messages"] as readonly { readonly content: unknown }[];
  expect(results.at(-1)?.content).toMatchObject([
    { content: '{"names":["old/","today.md"],"isCut":false}' },
    { content: '{"names":["last.md"],"isCut":false}' },
    { content: "Folder not found: new", is_error: true },
    { content: '{"content":"Bought bread","size":12}' },
    { content: "The path is outside the shared folder", is_error: true },
    { content: "File not found: old", is_error: true },
  ]);
  await world.picture(page, "page-files");
});

test("without a folder picker a file input shares a folder, until that is revoked", async () => {
  const notes = join(folder.path, "notes");
  await mkdir(join(notes, "old"), { recursive: true });
  await writeFile(join(notes, "today.md"), "Buy milk");
  await writeFile(join(notes, "old", "large.txt"), "a".repeat(256 * 1_024 + 1));
  await writeFile(join(notes, "old", "photo.bin"), Buffer.from([0xff, 0xfe]));
  const page = await world.join();
  await page.evaluate("window.showDirectoryPicker = undefined");
  await openPanel(page, "Settings");
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.getByRole("button", { name: "Choose a folder" }).click(),
  ]);
  await chooser.setFiles(notes);
  await page.getByText("Shared: notes.").waitFor();
  world.model.script([
    ...reading(
      toolUse("list_local_files"),
      toolUse("read_local_file", { filePath: "today.md" }),
      toolUse("read_local_file", { filePath: "old/large.txt" }),
      toolUse("read_local_file", { filePath: "old/photo.bin" }),
    ),
    reply([text("I cannot see them any more.")]),
  ]);
  await say(page, "What is in my notes?");
  await page.getByText("That is all.", { exact: true }).waitFor();

  const results = world.model.requests.at(-1)?.body["messages"] as readonly { readonly content: unknown }[];
  expect(results.at(-1)?.content).toMatchObject([
    { content: '{"names":["old/","today.md"],"isCut":false}' },
    { content: '{"content":"Buy milk","size":8}' },
    { content: "The file is larger than 262144 bytes: old/large.txt", is_error: true },
    { content: "Not a text file, or not readable: old/photo.bin", is_error: true },
  ]);
  await page.getByRole("button", { name: "Stop sharing" }).click();
  await say(page, "And now?");
  await page.getByText("I cannot see them any more.", { exact: true }).waitFor();
  expect(offered()).not.toContain("read_local_file");
});

/** Opens a page, and makes a tool on the server show a form there. */
async function openServerForm({ isAnswered = true, ...joining }: { isAnswered?: boolean; room?: string } = {}) {
  const page = await world.join(joining);
  world.model.script([reply([toolUse("book_table")]), ...(isAnswered ? [reply([text("So be it.")])] : [])]);
  await say(page, "Book a table");
  const form = page.getByRole("form", { name: "A table for you" });
  await form.waitFor();
  return { page, form };
}

test("a tool's form is filled in with the keyboard alone, and an error is shown at its field", async () => {
  const { page, form } = await openServerForm();
  await form.getByLabel("How many people").focus();
  await page.keyboard.type("40");
  await page.keyboard.press("Enter");

  await form.getByText("How many people: expected a number up to 12").waitFor();
  await form.getByLabel("How many people").and(page.locator(":focus")).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("4");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await page.keyboard.press("Tab");
  await page.keyboard.type("ab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await page.keyboard.press("Enter");

  // Only the tool's own schema contains the pattern: the form is shown again, still filled in, with the error at the
  // field.
  await form.getByText(/^Code: Invalid/u).waitFor();
  expect(await form.getByLabel("How many people").inputValue()).toBe("4");
  expect(await form.getByLabel("Inside").isChecked()).toBe(true);
  expect(await form.getByLabel("Code").inputValue()).toBe("ab");
  // The form is shown a second time, but gets no card of its own.
  expect(await page.locator(".call").count()).toBe(1);
  await page.getByText("The agent: Waiting for you").waitFor();
  await form.getByLabel("Code").fill("AB");
  for (const extra of ["Bread", "Olives", "Nuts"]) await form.getByRole("checkbox", { name: extra }).check();
  await form.getByRole("button", { name: "Answer", exact: true }).click();
  await form.getByText("To begin with: expected at most 2 items").waitFor();
  await form.getByRole("checkbox", { name: "Bread" }).and(page.locator(":focus")).waitFor();
  await form.getByRole("checkbox", { name: "Olives" }).uncheck();
  await form.getByRole("button", { name: "Answer", exact: true }).click();

  await page.getByText("So be it.", { exact: true }).waitFor();
  expect(await form.count()).toBe(0);
  // The focus moves from the form to the message field.
  await page.getByLabel("Message", { exact: true }).and(page.locator(":focus")).waitFor();
  const content = { guests: 4, place: "Inside", code: "AB", smoking: true, month: "May", extras: ["Bread", "Nuts"] };
  expect(lastMessagesJson()).toContain(JSON.stringify(JSON.stringify({ action: "accept", content })));
});

test("an empty form shows at each required field what to do", async () => {
  const { page, form } = await openServerForm({ isAnswered: false });

  await form.getByRole("button", { name: "Answer", exact: true }).click();

  await form.getByLabel("How many people").and(page.locator(":focus")).waitFor();
  expect(await form.locator(".field-problem").allTextContents()).toEqual([
    "How many people: please fill this in",
    "Where: please choose one",
    "Code: please fill this in",
  ]);
  expect(await accessibilityProblems(page)).toEqual([]);
});

test("of two forms Decline declines one, Not now cancels the other, and the message field stays visible", async () => {
  const page = await world.join({ viewport: { width: 800, height: 600 } });
  world.model.script([reply([toolUse("book_table"), toolUse("book_table")]), reply([text("So be it.")])]);
  await say(page, "Book two tables");
  const form = page.getByRole("form", { name: "A table for you" });
  await form.nth(1).waitFor();
  const line = await page.getByLabel("Message", { exact: true }).boundingBox();
  expect((line?.y ?? 600) + (line?.height ?? 0)).toBeLessThan(600);
  await form.nth(0).getByRole("button", { name: "Decline" }).click();
  await form.nth(1).waitFor({ state: "detached" });
  await form.getByRole("button", { name: "Not now" }).click();

  await page.getByText("So be it.", { exact: true }).waitFor();
  for (const action of ["decline", "cancel"])
    expect(lastMessagesJson()).toContain(JSON.stringify(JSON.stringify({ action })));
});

test("a form closes with its call", async () => {
  const { page, form } = await openServerForm({ isAnswered: false, room: "restaurant" });
  await world.picture(page, "page-form");
  await page.getByRole("button", { name: "Stop" }).click();

  await form.waitFor({ state: "detached" });
  await page.getByRole("group", { name: "Book table: Cancelled" }).getByText("A table for you: cancelled").waitFor();
  expect(await page.getByRole("button", { name: "Answer", exact: true }).count()).toBe(0);
});

test("axe finds no problem in a form, even on a narrow page", async () => {
  const { page } = await openServerForm({ isAnswered: false });
  expect(await accessibilityProblems(page)).toEqual([]);
  // The page is tall enough for the whole form, because fields that are scrolled behind its buttons cannot be clicked.
  await page.setViewportSize({ width: 320, height: 1_600 });

  expect(await accessibilityProblems(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
});

const EXAMPLES = join(import.meta.dirname, "../../examples");

const CASES = [
  ["react-minimal", "set_theme", { theme: "dark" }, "document.documentElement.style.colorScheme", "dark"],
  ["vanilla", "set_title", { title: "Hello" }, "document.title", "Hello"],
] as const;

test.each(CASES)("the example %s offers its tool, and shows the answer", async (...example) => {
  const [name, tool, input, state, expected] = example;
  const [root, configFile] = [join(EXAMPLES, name), join(EXAMPLES, "vite.config.ts")];
  const build = { outDir: join(folder.path, name) };
  const env = { ...process.env, NODE_ENV: "production" };
  const args = [VITE, "build", root, "--config", configFile, "--outDir", build.outDir, "--logLevel", "warn"];
  await promisify(execFile)(process.execPath, args, { env });
  const proxy = { "/token": { target: world.url, headers: world.headers, changeOrigin: true } };
  await using server = Object.assign(
    await preview({ configFile, root, build, logLevel: "silent", preview: { port: 0, host: "127.0.0.1", proxy } }),
    {
      [Symbol.asyncDispose]: () => server.close(),
    },
  );
  const page = await world.open({ url: server.resolvedUrls?.local[0] });
  world.model.script([reply([toolUse(tool, input)]), reply([text("So be it.")])]);

  await page.getByRole("button", { name: "Send" }).and(page.locator(":enabled")).waitFor();
  await say(page, "Please do");

  await page.getByText("So be it.").waitFor();
  expect(await page.evaluate(state)).toBe(expected);
  expect(world.model.rejections).toEqual([]);
});
