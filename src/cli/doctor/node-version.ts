const OLDEST = [22, 18] as const;

/** Returns what to do if this Node version cannot run TypeScript sources, or `undefined` if it can. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST;
  const isOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  return isOld ? `Parley needs Node ${OLDEST.join(".")} or newer, but this is ${version}: install Node 24` : undefined;
}
