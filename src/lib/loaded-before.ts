/** What a folder's files were when they were loaded last, for loading them again. */
export interface LoadedBefore<Loaded> {
  readonly get: (name: string) => Loaded | undefined;
  /** Neither the file nor what it imports has changed: it is not loaded again. */
  readonly isUnchanged: (path: string) => boolean;
  /** The file cannot be loaded: what it was stays. */
  readonly onBad: (path: string, error: Error) => void;
}
