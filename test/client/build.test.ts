import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);
const TSC = resolve("node_modules/.bin/tsc");

const CONSUMER = `
import { connect, type Parley, type Transport } from "parley-client/client/index.js";
import { z } from "zod";

const transport: Transport = {
  isConnected: false,
  roomName: "room",
  peers: [],
  sendPacket: async () => {},
  sendStream: async () => {},
  listen: () => () => {},
};
const parley: Parley = await connect(transport);
parley.registerTool({
  name: "set_theme",
  description: "Switches the page.",
  input: z.object({ theme: z.enum(["light", "dark"]) }),
  run: ({ theme }) => {
    const known: "light" | "dark" = theme;
    // @ts-expect-error The input is typed.
    const wrong: number = theme;
    return { known, wrong };
  },
});
await parley.close();
console.log("built");
`;

/**
 * A folder for an application that uses the built SDK. It is inside the repository, so that the SDK finds its
 * dependencies, and inside node_modules, where Node refuses to load .ts files.
 */
async function consumerFolder(): Promise<string> {
  await mkdir("node_modules/.cache", { recursive: true });
  const folder = await mkdtemp(resolve("node_modules/.cache/consumer-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const built = join(folder, "node_modules/parley-client");
  await run(TSC, ["-p", "packages/client/tsconfig.json", "--outDir", built]);
  await writeFile(join(built, "package.json"), JSON.stringify({ name: "parley-client", type: "module" }));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await writeFile(join(folder, "consumer.ts"), CONSUMER);
  const compilerOptions = {
    target: "es2024",
    // The client's own types declare AsyncDisposable.
    lib: ["es2024", "dom"],
    module: "nodenext",
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));
  return folder;
}

test("the built client is typed and runs from node_modules", { timeout: 60_000 }, async () => {
  const cwd = await consumerFolder();

  await run(TSC, ["-p", "."], { cwd });
  const { stdout } = await run(process.execPath, ["consumer.js"], { cwd });

  expect(stdout).toBe("built\n");
});
