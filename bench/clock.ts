/** Milliseconds by the system's monotonic clock, which all processes of this machine share. */
export function clockMs(): number {
  return Number(process.hrtime.bigint()) / 1_000_000;
}
