import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { installerEnvironment } from "../../src/tool/program-environment.ts";
import { ClientProgram } from "../../src/conformance/client/client-program.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Files that start the worker itself. It gets all variables, because an author's config may read any of them. */
const OURSELVES = ["src/cli/dev/run-dev.ts"];
const STARTS = /(?<![.\w])(?:spawn|spawnSync|fork|execFile|execFileSync|exec|execSync|promisify\(execFile\))\(/gu;
const OWN_NAME = /const (\w+) = promisify\(execFile\)/u;

/** Returns the calls in a source that start a program, each up to its closing bracket. */
function startsIn(source: string): string[] {
  if (!source.includes('from "node:child_process"')) return [];
  const [, name] = OWN_NAME.exec(source) ?? [];
  const starts = name === undefined ? STARTS : new RegExp(`${STARTS.source}|(?<![.\\w])${name}\\(`, "gu");
  return [...source.matchAll(starts)].map(({ index }) => {
    let depth = 0;
    const skipped = source.startsWith("promisify(execFile)", index) ? index + "promisify(execFile)".length : index;
    for (let end = source.indexOf("(", skipped); end < source.length; end++) {
      if (source[end] === "(") depth += 1;
      if (source[end] === ")" && --depth === 0) return source.slice(index, end + 1);
    }
    return source.slice(index);
  });
}

test("each started program gets an environment that is listed where it is started", async () => {
  const unlisted: string[] = [];
  let starts = 0;
  for await (const file of glob("{src,scripts,bench,tools,template,examples}/**/*.ts", { cwd: ROOT })) {
    if (file.includes("node_modules")) continue;
    for (const start of startsIn(await readFile(join(ROOT, file), "utf8"))) {
      starts += 1;
      const isListed = /\benv\b/u.test(start) && !start.includes("...process.env");
      if (!isListed && !OURSELVES.includes(file)) unlisted.push(`${file}: ${start.slice(0, 80)}`);
    }
  }

  expect(unlisted).toEqual([]);
  expect(starts).toBeGreaterThan(15);
});

test("the client in a conformance run gets the given variables, and none of ours", async () => {
  vi.stubEnv("ANTHROPIC_API_KEY", "sk-secret");
  onTestFinished(() => void vi.unstubAllEnvs());
  const print = "console.log(JSON.stringify({ event: 'joined', names: Object.keys(process.env) }))";

  await using program = new ClientProgram([process.execPath, "-e", print], { LIVEKIT_URL: "ws://h" });

  expect((await program.next("joined"))["names"]).toEqual(["LIVEKIT_URL"]);
});

test("npm gets its own settings and the machine's proxies, and none of our keys", () => {
  vi.stubEnv("ANTHROPIC_API_KEY", "sk-secret");
  vi.stubEnv("npm_config_cache", "/cache");
  vi.stubEnv("HTTPS_PROXY", "http://proxy");
  onTestFinished(() => void vi.unstubAllEnvs());

  const environment = installerEnvironment();

  expect(environment).toMatchObject({ npm_config_cache: "/cache", HTTPS_PROXY: "http://proxy" });
  expect(environment).not.toHaveProperty("ANTHROPIC_API_KEY");
});
