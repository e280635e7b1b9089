/** Something that was started and must be closed. `close` may be called twice, and leaves no process behind. */
export interface Service {
  readonly close: () => Promise<void>;
}

/** Writes a line to stderr about what is being started. */
export type ReportProgress = (line: string) => void;
