import PQueue from "p-queue";
import { AppError } from "../../errors/app-error.ts";
import { describeImportError, displayPath } from "../../lib/modules/import-error.ts";
import { runHook } from "./call-hook.ts";
import { type ModuleHooks, registered, type WorkerHooks } from "./worker-hooks.ts";

/** How long `onWorkerStart` may take: less than the limit for the start of a host process. */
const START_LIMIT_MS = 10_000;
/** How long `onWorkerStop` and `onReload` may take: less than the limit for the end of a host process. */
const STOP_LIMIT_MS = 2_000;

/** Runs one task at a time, because in tests, one session may start while another one ends. */
const queue = new PQueue({ concurrency: 1 });
/** How many callers have called `startWorkerHooks`, but not yet `stopWorkerHooks`. */
let users = 0;

/**
 * Calls `onWorkerStart` of all modules for which it has not been called yet. The caller must call `stopWorkerHooks`.
 *
 * @throws {AppError} `invalid_config` naming the file, if a hook throws or is late. What was started is stopped again
 */
export async function startWorkerHooks(): Promise<void> {
  await queue.add(async () => {
    users++;
    const [failure] = await startAll({ stopsAtFailure: true });
    if (!failure) return;
    await release();
    throw failure;
  });
}

/**
 * Calls `onWorkerStop` of all modules, the last one first, unless there are other callers of `startWorkerHooks` left.
 * Never rejects. Returns an error for each hook that threw or was late.
 */
export async function stopWorkerHooks(): Promise<readonly AppError[]> {
  return await queue.add(release);
}

/**
 * Loads changed modules again. Before that, calls `onReload` of those that are going to be loaded again; afterwards,
 * calls `onWorkerStart` of the new versions. If `load` returns `false`, some of the previous versions are still in use,
 * so `onWorkerStart` is called for these as well.
 *
 * @returns an error for each hook that threw or was late
 */
export async function reloadModules(
  isRenewed: (file: string) => boolean,
  load: () => Promise<boolean>,
): Promise<readonly AppError[]> {
  return await queue.add(async () => {
    const previous = [...registered].filter(({ file }) => isRenewed(file));
    const failures = await stopAll(previous, "onReload");
    if (await load()) {
      const unused = [...registered].filter((each) => previous.includes(each) || hasNewerVersion(each));
      failures.push(...(await stopAll(unused, "onReload")));
      for (const each of unused) registered.delete(each);
    }
    return [...failures, ...(await startAll({ stopsAtFailure: false }))];
  });
}

async function startAll({ stopsAtFailure }: { readonly stopsAtFailure: boolean }): Promise<AppError[]> {
  const failures: AppError[] = [];
  for (const each of registered) {
    if (each.isStarted) continue;
    const failure = await call(each, "onWorkerStart", START_LIMIT_MS);
    if (failure) failures.push(failure);
    else each.isStarted = true;
    if (failure && stopsAtFailure) break;
  }
  return failures;
}

async function stopAll(modules: Iterable<ModuleHooks>, name: "onWorkerStop" | "onReload"): Promise<AppError[]> {
  const started = [...modules].filter(({ isStarted }) => isStarted);
  const failures: AppError[] = [];
  for (const each of started.toReversed()) {
    each.isStarted = false;
    const failure = await call(each, each.hooks[name] ? name : "onWorkerStop", STOP_LIMIT_MS);
    if (failure) failures.push(failure);
  }
  return failures;
}

async function release(): Promise<readonly AppError[]> {
  // A host process may be closed twice: by its worker, and because the worker has gone.
  users = Math.max(0, users - 1);
  return users > 0 ? [] : await stopAll(registered, "onWorkerStop");
}

function hasNewerVersion({ file, url }: ModuleHooks): boolean {
  return [...registered].findLast((each) => each.file === file)?.url !== url;
}

async function call(
  { file, hooks }: ModuleHooks,
  name: keyof WorkerHooks,
  limitMs: number,
): Promise<AppError | undefined> {
  const failure = await runHook((context) => hooks[name]?.(context), limitMs);
  if (!failure) return undefined;
  const { isLate, error } = failure;
  const what = isLate ? `timed out after ${limitMs / 1_000} s` : `failed: ${describeImportError(error)}`;
  return new AppError("invalid_config", `${displayPath(file)}: ${name} ${what}`, { cause: error });
}
