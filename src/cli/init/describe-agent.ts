import type { Written } from "./run-init.ts";

/** Lists, for the terminal, the files that were written, and the files and scripts that were left unchanged. */
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
 * Returns the commands to type next.
 *
 * @param first commands to run before all others in the folder
 * @param ownScripts scripts that the project already had; for these, `npm run parley -- <name>` runs the agent's
 *   command
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

/** Quotes a path for a shell. */
export function quote(path: string): string {
  return /^[\w./~-]+$/u.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
