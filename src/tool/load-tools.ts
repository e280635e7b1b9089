import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { AppError } from "../errors/app-error.ts";
import { didYouMean } from "../lib/checks/did-you-mean.ts";
import { describeImportError } from "../lib/modules/import-error.ts";
import { findModules } from "../lib/modules/find-modules.ts";
import type { PreviousModules } from "../lib/previous-modules.ts";
import { TOOL_NAME } from "../protocol/limits.ts";
import { isTool, type Tool } from "./define-tool.ts";
import { runIsolated } from "./isolated-run.ts";
import { toServerTool, type ServerTool } from "./server-tool.ts";

type Settings = Readonly<Record<string, unknown>>;

/**
 * Loads the tools in `folder`, sorted by path. A tool is named after its file: `web/web-search.ts` becomes
 * `web_search`. Files whose names begin with `_` and declarations (`.d.ts`) are skipped. `settings` is the config's
 * `toolSettings`, keyed by tool name or by the name that tools share. Tools that need settings and have none are off,
 * and are omitted.
 *
 * @param before the previous tools, when reloading. If a file cannot be loaded, `before.onBad` is called and its tool
 *   stays as it was
 * @throws {AppError} `invalid_config`, naming a missing folder or, without `before`, an invalid file or setting
 */
export async function loadTools(
  folder: string,
  settings: Settings = {},
  before?: PreviousModules<ServerTool>,
): Promise<ReadonlyMap<string, ServerTool>> {
  if (!(await isFolder(folder)))
    throw new AppError("invalid_config", `toolsFolder: the folder ${folder} does not exist`);
  const files = await findModules(folder);
  const tools = new Map<string, ServerTool | undefined>();
  const pathOf = new Map<string, string>();
  const known = new Set<string>();
  for (const file of files) {
    const path = join(folder, file);
    const name = toName(file);
    const first = pathOf.get(name);
    if (first === undefined) pathOf.set(name, path);
    if (before?.isUnchanged(path) && !tools.has(name)) {
      tools.set(name, before.get(name));
      continue;
    }
    try {
      if (!TOOL_NAME.test(name)) throw bad(path, `the tool name "${name}" does not match ${TOOL_NAME.source}`);
      if (first !== undefined) throw bad(path, `the tool name "${name}" is already taken by ${first}`);
      const tool = await importTool(path);
      known.add(tool.sharedSettings ?? name);
      tools.set(name, toLoaded(path, name, { tool, settings }));
    } catch (error) {
      if (!before) throw error;
      before.onBad(path, error as AppError);
      if (!tools.has(name)) tools.set(name, before.get(name));
    }
  }
  if (!before) checkEntries(settings, known, folder);
  return new Map([...tools].flatMap(([name, tool]) => (tool ? [[name, tool]] : [])));
}

/** Returns the names of all tools in `folder`, including those that are off. */
export async function toolNamesIn(folder: string): Promise<string[]> {
  return (await findModules(folder)).map(toName);
}

function toName(file: string): string {
  return basename(file, ".ts").replaceAll("-", "_");
}

/** @throws {AppError} `invalid_config` if an entry of the settings belongs to none of the folder's tools */
function checkEntries(settings: Settings, known: ReadonlySet<string>, folder: string): void {
  for (const name of Object.keys(settings)) {
    if (!known.has(name))
      throw new AppError(
        "invalid_config",
        `toolSettings.${name}: there is no tool "${name}" in ${folder}.${didYouMean(name, known)}`,
      );
  }
}

/** Returns `undefined` if the tool is off. */
function toLoaded(
  path: string,
  name: string,
  { tool, settings }: { tool: Tool; settings: Settings },
): ServerTool | undefined {
  return compile(path, () => {
    const { isOff, own } = settingsOf(name, tool, settings);
    if (isOff) return undefined;
    return isolated(toServerTool(name, tool, own), tool, { file: path, settings: own });
  });
}

/**
 * Returns a tool's entry in `toolSettings`, and whether the tool is off because it needs an entry and has none.
 *
 * @throws {TypeError} if the tool needs settings but has no schema for them
 */
export function settingsOf(
  name: string,
  { settings: schema, needsSettings, sharedSettings }: Tool,
  settings: Settings,
): { readonly own: unknown; readonly isOff: boolean } {
  const entry = sharedSettings ?? name;
  const own = Object.hasOwn(settings, entry) ? settings[entry] : undefined;
  const needsOwn = needsSettings === true || sharedSettings !== undefined;
  if (needsOwn && !schema)
    throw new TypeError("settings: expected a schema, because needsSettings or sharedSettings is set");
  return { own, isOff: needsOwn && own === undefined };
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

async function importTool(path: string): Promise<Tool> {
  let module: { default?: unknown };
  try {
    module = (await import(pathToFileURL(path).href)) as { default?: unknown };
  } catch (error) {
    throw bad(path, describeImportError(error), error);
  }
  if (!isTool(module.default)) throw bad(path, "the default export is not a tool (use defineTool)");
  return module.default;
}

function compile<Made>(path: string, toTool: () => Made): Made {
  try {
    return toTool();
  } catch (error) {
    throw bad(path, error instanceof Error ? error.message : String(error), error);
  }
}

function isolated(compiled: ServerTool, { isolate }: Tool, data: Parameters<typeof runIsolated>[0]): ServerTool {
  return isolate && compiled.run ? { ...compiled, run: runIsolated(data) } : compiled;
}

function bad(path: string, why: string, cause?: unknown): AppError {
  return new AppError("invalid_config", `${path}: ${why}`, { cause });
}
