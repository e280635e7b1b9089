import type { Written } from "./run-init.ts";

/** What was written into the folder, in lines for a terminal. */
export function describeAgent(folder: string, { agent, forTools, left, ownScripts, wasCommonJs }: Written): string {
  return [
    `Made in ${folder}: ${agent.join(", ")}`,
    ...(forTools.length > 0 ? [`For git, editors and containers: ${forTools.join(", ")}`] : []),
    ...(left.length > 0 ? [`Left unchanged: ${left.join(", ")}`] : []),
    ...(ownScripts.length > 0 ? [`Left unchanged in package.json: your scripts ${ownScripts.join(", ")}`] : []),
    ...(wasCommonJs ? ['Changed in package.json: "type" is "module" now. Rename your CommonJS files to .cjs'] : []),
  ].join("\n");
}

/**
 * The commands to type next.
 *
 * @param first those that come before all others in the folder
 * @param ownScripts names of scripts that are the project's own, so that npm does not run the agent's command by them
 */
export function nextSteps(folder: string, first: readonly string[], ownScripts: readonly string[]): string {
  const npm = (script: string) => {
    if (ownScripts.includes(script)) return `npm run parley -- ${script}`;
    return script === "start" || script === "test" ? `npm ${script}` : `npm run ${script}`;
  };
  const lines = [
    ...(folder === "." ? [] : [[`cd ${quote(folder)}`, ""]]),
    ...first.map((command) => [command, ""]),
    [npm("doctor"), "what is missing on this machine, and how to fix it"],
    [npm("start"), "everything: LiveKit, PostgreSQL, a scripted model, the worker"],
    [npm("talk"), "in a second terminal"],
    [npm("test"), ""],
  ];
  return lines.map(([command = "", does]) => `  ${does ? `${command.padEnd(16)} # ${does}` : command}`).join("\n");
}

/** A path as a shell takes it. */
export function quote(path: string): string {
  return /^[\w./~-]+$/u.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
