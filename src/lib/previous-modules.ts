/** The previous contents of a folder of modules, used to reload it. */
export interface PreviousModules<Loaded> {
  readonly get: (name: string) => Loaded | undefined;
  /** Whether neither the file nor its imports have changed. If so, it is not loaded again. */
  readonly isUnchanged: (path: string) => boolean;
  /** Called if the file cannot be loaded. Its previous contents are kept. */
  readonly onBad: (path: string, error: Error) => void;
}
