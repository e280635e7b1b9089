/** Returns milliseconds of the system's monotonic clock, which all processes on this machine share. */
export function clockMs(): number {
  return Number(process.hrtime.bigint()) / 1_000_000;
}
