/** The model of a test's session. */
export interface TestModel {
  /** Starts the model for one session. The session closes the model. */
  readonly open: () => Promise<OpenModel>;
}

export interface OpenModel {
  /** The base URL of the Messages API. `undefined` means Anthropic's. */
  readonly baseUrl: string | undefined;
  readonly apiKey: string;
  /** What the model found wrong with the test or the agent. Any problem fails the test. */
  readonly problems: () => readonly string[];
  /** The number of replies that have not been requested yet. */
  readonly left: () => number;
  readonly close: () => Promise<void>;
}
