import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { AppError } from "../errors/app-error.ts";
import { describeIssue } from "../lib/checks/describe-issue.ts";
import { describeImportError } from "../lib/modules/import-error.ts";
import { findModules } from "../lib/modules/find-modules.ts";
import type { PreviousModules } from "../lib/previous-modules.ts";
import { agentSchema, type AgentSettings } from "./agent-fields.ts";
import { isAgent } from "./define-agent.ts";

/** The name of the agent in parley.config.ts. */
export const DEFAULT_AGENT = "default";

const AGENT_NAME = /^[a-z][a-z0-9_-]{0,63}$/;

/**
 * Loads the agents of `folder` and its subfolders, in sorted order. `billing.ts` defines the agent `billing`.
 * Declarations (`.d.ts`) and files whose name begins with `_` are skipped. Returns an empty map if the folder does not
 * exist.
 *
 * @param before the previously loaded agents, on a reload. If a file fails to load, `before.onBad` is called and its
 *   previous agent is kept
 * @throws {AppError} `invalid_config` naming the file and the field, unless `before` is passed
 */
export async function loadAgents(
  folder: string,
  before?: PreviousModules<AgentSettings>,
): Promise<ReadonlyMap<string, AgentSettings>> {
  const files = await findModules(folder);
  const agents = new Map<string, AgentSettings>();
  const pathOf = new Map<string, string>();
  for (const file of files) {
    const path = join(folder, file);
    const name = basename(file, ".ts");
    const known = before?.get(name);
    try {
      const first = pathOf.get(name);
      if (first !== undefined) throw bad(path, `the agent's name "${name}" is already taken by ${first}`);
      pathOf.set(name, path);
      agents.set(name, known && before?.isUnchanged(path) ? known : await loadAgent(path, name));
    } catch (error) {
      if (!before) throw error;
      before.onBad(path, error as AppError);
      if (known && !agents.has(name)) agents.set(name, known);
    }
  }
  return agents;
}

async function loadAgent(path: string, name: string): Promise<AgentSettings> {
  if (!AGENT_NAME.test(name)) throw bad(path, `the agent's name "${name}" does not match ${AGENT_NAME.source}`);
  if (name === DEFAULT_AGENT) throw bad(path, `"${name}" is reserved for the agent of parley.config.ts`);
  let module: { default?: unknown };
  try {
    module = (await import(pathToFileURL(path).href)) as { default?: unknown };
  } catch (error) {
    throw bad(path, describeImportError(error), error);
  }
  if (!isAgent(module.default)) throw bad(path, "the default export is not an agent (use defineAgent)");
  const { ...definition } = module.default;
  const parsed = agentSchema.safeParse(definition);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `${path}: ${describeIssue(issue, definition, agentSchema)}`);
  throw new AppError("invalid_config", lines.join("\n"), { cause: parsed.error });
}

function bad(path: string, why: string, cause?: unknown): AppError {
  return new AppError("invalid_config", `${path}: ${why}`, { cause });
}
