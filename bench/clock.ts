/** Returns the time of the system's monotonic clock in milliseconds. All processes on this machine share this clock. */
export function clockMs(): number {
  return Number(process.hrtime.bigint()) / 1_000_000;
}
