import type { AgentSettings } from "../../agent/agent-fields.ts";
import { loadAgents } from "../../agent/load-agents.ts";
import type { PreviousModules } from "../../lib/previous-modules.ts";
import { loadTools } from "../../tool/load-tools.ts";
import type { ServerTool } from "../../tool/server-tool.ts";
import type { Config } from "../config.ts";
import { reloadModules, startWorkerHooks, stopWorkerHooks } from "../hooks/call-worker-hooks.ts";
import type { Logger } from "../logger.ts";
import { FreshModules } from "./fresh-modules.ts";
import { watchFiles } from "./watch-files.ts";

/** The environment variable that is set in a worker's processes if they reload changed tool and agent files. */
export const RELOADS = "PARLEY_RELOADS";

/** The message that a worker sends to the command `parley dev` that started it. */
export interface ToDev {
  /** Folders whose files are reloaded when they change. */
  readonly reloads: readonly string[];
}

interface Reload {
  /** Files that were added, changed or deleted. */
  readonly files: readonly string[];
  /** Why some files failed to load. Their previous definitions are kept. */
  readonly problems: readonly string[];
}

/** The tools and agents currently loaded from the config's folders. The maps may change. */
export interface Definitions {
  readonly tools: ReadonlyMap<string, ServerTool>;
  readonly agents: ReadonlyMap<string, AgentSettings>;
  /** Calls the listener each time changed files have been loaded. */
  readonly onReloaded: (listener: (reload: Reload) => void) => void;
  /** Calls `onWorkerStop` of the modules. Never rejects. */
  readonly close: () => Promise<void>;
}

type Folders = Pick<Config, "toolsFolder" | "toolSettings" | "agentsFolder">;

interface DefinitionOptions {
  /** Whether files that change later are reloaded. */
  readonly reloads: boolean;
  /**
   * Whether files that fail to load are skipped instead of causing an error. A process that starts while the author is
   * editing must still serve rooms.
   */
  readonly isLenient?: boolean;
  readonly logger: Pick<Logger, "error">;
}

/**
 * Loads the tools and the agents from the config's folders, and calls `onWorkerStart` of their modules.
 *
 * @throws {AppError} `invalid_config` naming the file: if it is invalid, unless `isLenient`, or if its `onWorkerStart`
 *   fails
 */
export async function openDefinitions(
  config: Folders,
  { reloads, isLenient = false, logger }: DefinitionOptions,
): Promise<Definitions> {
  const { toolsFolder, toolSettings, agentsFolder } = config;
  const closing = new AbortController();
  const opened = Promise.withResolvers<void>();
  const tools = new Map<string, ServerTool>();
  const agents = new Map<string, AgentSettings>();
  const listeners: ((reload: Reload) => void)[] = [];
  let failed: readonly string[] = [];
  const report = (failures: readonly Error[]) => {
    for (const error of failures) logger.error({ error }, "worker hook failed");
  };
  if (reloads) {
    const folders = [toolsFolder, agentsFolder];
    const modules = new FreshModules(folders);
    void watchFiles(folders, closing.signal, async (files) => {
      await opened.promise;
      // A file that failed to load earlier may have needed one of these files.
      const isRenewed = modules.renew([...files, ...failed]);
      let bad: ReadonlyMap<string, string> = new Map();
      const failures = await reloadModules(isRenewed, async () => {
        bad = await loadAgain({ config, tools, agents }, isRenewed);
        return bad.size === 0;
      });
      failed = [...bad.keys()];
      report(failures);
      for (const listener of listeners) listener({ files, problems: [...bad.values()] });
    });
  }
  try {
    if (isLenient) failed = [...(await loadAgain({ config, tools, agents }, () => true)).keys()];
    else {
      refill(tools, await loadTools(toolsFolder, toolSettings));
      refill(agents, await loadAgents(agentsFolder));
    }
    await startWorkerHooks();
  } catch (error) {
    closing.abort();
    throw error;
  }
  opened.resolve();
  const close = async () => {
    closing.abort();
    report(await stopWorkerHooks());
  };
  return { tools, agents, onReloaded: (listener) => void listeners.push(listener), close };
}

interface Loaded {
  readonly config: Folders;
  readonly tools: Map<string, ServerTool>;
  readonly agents: Map<string, AgentSettings>;
}

/** Loads the renewed files again. Returns the errors of files that failed to load, by path. Never rejects. */
async function loadAgain(
  { config, tools, agents }: Loaded,
  isRenewed: (path: string) => boolean,
): Promise<ReadonlyMap<string, string>> {
  const { toolsFolder, toolSettings, agentsFolder } = config;
  const bad = new Map<string, string>();
  const before = <Value>(known: ReadonlyMap<string, Value>): PreviousModules<Value> => ({
    get: (name) => known.get(name),
    isUnchanged: (path) => !isRenewed(path),
    onBad: (path, { message }) => bad.set(path, message),
  });
  try {
    refill(tools, await loadTools(toolsFolder, toolSettings, before(tools)));
    refill(agents, await loadAgents(agentsFolder, before(agents)));
  } catch (error) {
    bad.set(toolsFolder, error instanceof Error ? error.message : String(error));
  }
  return bad;
}

function refill<Value>(map: Map<string, Value>, now: ReadonlyMap<string, Value>): void {
  map.clear();
  for (const [name, value] of now) map.set(name, value);
}
