/** Something that we started and must end. `close` is idempotent and leaves no process behind. */
export interface Service {
  readonly close: () => Promise<void>;
}

/** Where a service tells what it is doing while it starts; goes to stderr. */
export type TellProgress = (line: string) => void;
