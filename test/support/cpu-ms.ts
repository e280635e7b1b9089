/** The CPU time that this process has used, in milliseconds: the same on a busy machine as on an idle one. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
