import { fileURLToPath } from "node:url";
import type { HookContext } from "../../agent/hooks.ts";
import { fieldsOf, refuseUnknownFields } from "../../lib/checks/did-you-mean.ts";

type WorkerHook = (context: HookContext) => unknown;

/** Functions that open and close what a module needs for as long as a process runs, such as a database pool. */
export interface WorkerHooks {
  /**
   * Called before the process serves rooms, and again after a reload. If it throws or takes longer than 10 s, the
   * worker doesn't start.
   */
  readonly onWorkerStart?: WorkerHook;
  /** Called once the process has closed its sessions. May take 2 s. */
  readonly onWorkerStop?: WorkerHook;
  /**
   * Called in development, before the module is loaded again because its file or one of its imports has changed. May
   * take 2 s.
   *
   * @defaultValue `onWorkerStop`
   */
  readonly onReload?: WorkerHook;
}

/** The hooks of one module. */
export interface ModuleHooks {
  /** The URL of the module. Each version of a reloaded module has its own. */
  readonly url: string;
  readonly file: string;
  readonly hooks: WorkerHooks;
  isStarted: boolean;
}

const FIELDS = fieldsOf<WorkerHooks>({ onWorkerStart: true, onWorkerStop: true, onReload: true });
const REGISTERED = Symbol.for("parley.workerHooks");

/** Global, because a test runner may load this file twice: for the test and for the agent's files. */
const shared = globalThis as { [REGISTERED]?: Set<ModuleHooks> };

/** The hooks of all modules in this process, in the order in which the modules were loaded. */
export const registered: Set<ModuleHooks> = (shared[REGISTERED] ??= new Set());

/**
 * Registers functions that each process of the worker calls when it starts, when it stops, and before it loads this
 * module again. Call it at the top level of a tool, an agent, parley.config.ts, or a module that these import.
 *
 * @param meta `import.meta`, which says whose hooks these are
 * @throws {TypeError} for an unknown field, or one that is not a function
 * @example
 * export let pool: pg.Pool;
 *
 * registerWorkerHooks(import.meta, {
 *   onWorkerStart: () => {
 *     pool = new pg.Pool({ connectionString: process.env["SHOP_DATABASE_URL"] });
 *   },
 *   onWorkerStop: () => pool.end(),
 * });
 */
export function registerWorkerHooks({ url }: { readonly url: string }, hooks: WorkerHooks): void {
  if (typeof url !== "string") throw new TypeError("registerWorkerHooks: expected import.meta as the first argument");
  refuseUnknownFields(hooks, FIELDS, "registerWorkerHooks");
  for (const [name, hook] of Object.entries(hooks))
    if (typeof hook !== "function") throw new TypeError(`registerWorkerHooks: ${name}: expected a function`);
  registered.add({ url, file: fileURLToPath(url), hooks, isStarted: false });
}
