import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reply, text, toolUse } from "../../src/testing/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { PNG } from "../support/pictures.ts";
import { PageWorld, say } from "./page-world.ts";

const world = forFile(() => PageWorld.start());
const folder = forFile(tempFolder);

/** What the model was told, in the last request. */
const told = () => JSON.stringify(world.model.requests.at(-1)?.body["messages"]);
const offered = () => JSON.stringify(world.model.requests.at(-1)?.body["tools"]);

test("a switched-on tool of the device answers with what only a browser knows", async () => {
  const place = { latitude: 47.5, longitude: 8.75 };
  const page = await world.join({ devices: ["get_location"], geolocation: place, permissions: ["geolocation"] });
  world.model.script([reply([toolUse("get_location")]), reply([text("Not far.")])]);

  await say(page, "Where am I?");

  await page.getByText("Not far.", { exact: true }).waitFor();
  expect(told()).toContain("47.5");
});

test("a tool that is switched off is not offered to the model any more", async () => {
  const page = await world.join();
  world.model.script([reply([text("First.")]), reply([text("Second.")])]);
  await say(page, "One");
  await page.getByText("First.", { exact: true }).waitFor();

  await page.getByRole("switch", { name: /^Show a notice/ }).uncheck();
  await say(page, "Two");
  await page.getByText("Second.", { exact: true }).waitFor();

  const offered = world.model.requests.slice(-2).map(({ body }) => JSON.stringify(body["tools"]));
  expect(offered.map((tools) => tools.includes("show_notification"))).toEqual([true, false]);
});

test("the text that was copied last is read where the person has switched that on", async () => {
  const page = await world.join({
    devices: ["read_clipboard"],
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await page.evaluate("navigator.clipboard.writeText('three eggs')");
  world.model.script([reply([toolUse("read_clipboard")]), reply([text("So eggs.")])]);

  await say(page, "What did I copy?");

  await page.getByText("So eggs.", { exact: true }).waitFor();
  expect(told()).toContain("three eggs");
});

test("a photo is taken, given to the model and shown, and the camera is off again", async () => {
  const page = await world.join({ devices: ["take_photo"], permissions: ["camera"] });
  world.model.script([reply([toolUse("take_photo")]), reply([text("A pattern.")])]);

  await say(page, "What do you see?");

  await page.getByText("A pattern.", { exact: true }).waitFor();
  const photo = page.getByRole("img", { name: "What the camera saw" });
  await photo.waitFor();
  expect(await page.evaluate("document.querySelector('.display img').naturalWidth")).toBe(640);
  expect(told()).toContain('"media_type":"image/jpeg"');
});

test("a picture that a person attaches goes to the model with the message, and one that was taken away does not", async () => {
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
  expect(told().match(/"media_type":"image\/png"/gu)).toHaveLength(1);
  expect(await page.getByRole("list", { name: "Attached" }).count()).toBe(0);
});

const reading = (...calls: readonly ReturnType<typeof toolUse>[]) => [reply([...calls]), reply([text("That is all.")])];

/** A folder of the browser's own stands for the one that its picker would give: no test can press its buttons. */
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

test("the agent lists and reads the folder that was picked, and nothing outside of it", async () => {
  const page = await world.join({ room: "desk" });
  await page.evaluate(PICKED);
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

test("without a picker for folders a file input shares one, until that is taken back", async () => {
  const notes = join(folder.path, "notes");
  await mkdir(join(notes, "old"), { recursive: true });
  await writeFile(join(notes, "today.md"), "Buy milk");
  await writeFile(join(notes, "old", "large.txt"), "a".repeat(256 * 1_024 + 1));
  await writeFile(join(notes, "old", "photo.bin"), Buffer.from([0xff, 0xfe]));
  const page = await world.join();
  await page.evaluate("window.showDirectoryPicker = undefined");
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
