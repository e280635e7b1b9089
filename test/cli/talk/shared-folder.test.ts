import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openFolder, readSharedFile } from "../../../src/cli/talk/shared-folder.ts";
import { TalkError } from "../../../src/cli/talk/talk-error.ts";

let base: string;
let folder: string;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "talk-"));
  folder = await realpath(base).then((path) => join(path, "shared"));
  await mkdir(join(folder, "inner"), { recursive: true });
  await mkdir(join(base, "shared-too"));
  await writeFile(join(folder, "notes.txt"), "Grüße\n");
  await writeFile(join(folder, "inner", "deep.txt"), "deep");
  await writeFile(join(folder, "image.bin"), new Uint8Array([0xff, 0xd8, 0xff]));
  await writeFile(join(base, "secret.txt"), "secret");
  await writeFile(join(base, "shared-too", "secret.txt"), "secret");
  await symlink("../secret.txt", join(folder, "link.txt"));
  await symlink("..", join(folder, "up"));
  await symlink("inner/deep.txt", join(folder, "inside.txt"));
  await writeFile(join(folder, "large.txt"), "");
  await truncate(join(folder, "large.txt"), 1024 * 1024 + 1);
  execFileSync("/usr/bin/mkfifo", [join(folder, "pipe")]);
});

afterAll(() => rm(base, { recursive: true }));

test("a file in the folder is read, with its size in bytes", async () => {
  expect(await readSharedFile(folder, "notes.txt")).toEqual({ content: "Grüße\n", size: 8 });
  expect((await readSharedFile(folder, "./inner/../inner/deep.txt")).content).toBe("deep");
  expect((await readSharedFile(folder, join(folder, "notes.txt"))).size).toBe(8);
});

test("a link that leads to a file inside is followed", async () => {
  expect((await readSharedFile(folder, "inside.txt")).content).toBe("deep");
});

test.each([
  "../secret.txt",
  "/etc/passwd",
  "link.txt",
  "up/secret.txt",
  "../shared-too/secret.txt",
  "inner/../../secret.txt",
  "..",
])("%s is outside and not read", async (path) => {
  const reading = readSharedFile(folder, path);
  await expect(reading).rejects.toMatchObject({
    code: "execution_error",
    message: "The path is outside the shared folder",
  });
});

test("nothing reveals which files exist outside", async () => {
  await expect(readSharedFile(folder, "../no-such-file")).rejects.toMatchObject({ code: "execution_error" });
});

test.each([
  ["nope.txt", "File not found: nope.txt"],
  ["inner", "Not a file: inner"],
  [".", "Not a file: ."],
  ["pipe", "Not a file: pipe"],
  ["image.bin", "Not a text file: image.bin"],
])("for %s the error says what is wrong", async (path, message) => {
  await expect(readSharedFile(folder, path)).rejects.toMatchObject({ code: "execution_error", message });
});

test("a file above 1 MiB is too large", async () => {
  await expect(readSharedFile(folder, "large.txt")).rejects.toMatchObject({ code: "result_too_large" });
});

test("a path with a NUL is refused", async () => {
  await expect(readSharedFile(folder, "notes.txt\0")).rejects.toMatchObject({ code: "invalid_parameters" });
});

test("only a folder can be shared", async () => {
  expect(await openFolder(folder)).toBe(folder);
  await expect(openFolder(join(folder, "notes.txt"))).rejects.toThrow(TalkError);
  await expect(openFolder(join(folder, "nope"))).rejects.toThrow(TalkError);
});
