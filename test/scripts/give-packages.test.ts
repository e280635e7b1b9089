import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { givePackages } from "../../scripts/agents/give-packages.ts";
import { versionOf } from "../../src/worker/own-package.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** Creates an agent's folder as an earlier version left it, next to a folder with newly built archives. */
async function earlierAgent(manifest: object) {
  const temp = await tempFolder();
  const [built, agent] = ["dist", "agent"].map((name) => join(temp.path, name)) as [string, string];
  await mkdir(built);
  await mkdir(join(agent, "packages"), { recursive: true });
  for (const name of ["parley", "parley-client", "parley-react", "create-parley"])
    await writeFile(join(built, `${name}-0.1.0.tgz`), "new");
  for (const name of ["parley-0.0.9.tgz", "our-tools-1.0.0.tgz"]) await writeFile(join(agent, "packages", name), "old");
  await writeFile(join(agent, "package.json"), JSON.stringify(manifest));
  const read = async () => JSON.parse(await readFile(join(agent, "package.json"), "utf8")) as unknown;
  return { built, agent, read, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

test("an agent gets the archives of its packages, and loses those of an earlier version", async () => {
  const dependencies = { parley: "file:packages/parley-0.0.9.tgz", "@parley/react": "0.0.9" };
  await using earlier = await earlierAgent({ dependencies });

  const specs = await givePackages(earlier.agent, earlier.built);

  expect(specs).toEqual(["file:packages/parley-0.1.0.tgz", "file:packages/parley-react-0.1.0.tgz"]);
  expect(await readdir(join(earlier.agent, "packages"))).toEqual([
    "our-tools-1.0.0.tgz",
    "parley-0.1.0.tgz",
    "parley-react-0.1.0.tgz",
  ]);
  expect(await earlier.read()).toMatchObject({ dependencies: { parley: specs[0], "@parley/react": specs[1] } });
});

test("packages that must match Parley get its version, and the author's own choices stay", async () => {
  await using earlier = await earlierAgent({
    scripts: { start: "node start.js" },
    dependencies: { parley: "0.0.9", zod: "4.0.0" },
    devDependencies: { "@livekit/rtc-node": "0.13.1", typescript: "5.9.3" },
  });

  await givePackages(earlier.agent, earlier.built);

  expect(await earlier.read()).toMatchObject({
    scripts: { start: "node start.js", parley: "parley" },
    dependencies: { zod: "4.0.0" },
    devDependencies: { "@livekit/rtc-node": versionOf("@livekit/rtc-node"), typescript: "5.9.3" },
  });
});

test("a folder that uses none of the packages is left unchanged", async () => {
  await using earlier = await earlierAgent({ dependencies: { zod: "4.0.0" } });

  await expect(givePackages(earlier.agent, earlier.built)).rejects.toThrow(
    "package.json lists none of Parley's packages",
  );

  expect(await readdir(join(earlier.agent, "packages"))).toEqual(["our-tools-1.0.0.tgz", "parley-0.0.9.tgz"]);
});

test("an agent gets its speech models, and does without where they could not be built", async () => {
  const dependencies = { parley: "0.0.9", "@parley/speech": "0.0.9" };
  await using earlier = await earlierAgent({ dependencies });

  await givePackages(earlier.agent, earlier.built);
  expect(await earlier.read()).toHaveProperty("dependencies", { parley: "file:packages/parley-0.1.0.tgz" });

  await using other = await earlierAgent({ dependencies });
  await writeFile(join(other.built, "parley-speech-0.1.0.tgz"), "new");
  await givePackages(other.agent, other.built);
  expect(await other.read()).toHaveProperty(
    ["dependencies", "@parley/speech"],
    "file:packages/parley-speech-0.1.0.tgz",
  );
});
