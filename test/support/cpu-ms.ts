/** Milliseconds of work that this process has done: what it costs, on a busy machine as on a quiet one. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
