/** The model of a test's talk. */
export interface TestModel {
  /** Starts it for one talk. The talk closes it. */
  readonly open: () => Promise<OpenModel>;
}

export interface OpenModel {
  /** The Messages API's address; undefined: Anthropic's. */
  readonly baseUrl: string | undefined;
  readonly apiKey: string;
  /** What the model has found wrong with the test or the agent. A test with any problem has failed. */
  readonly problems: () => readonly string[];
  /** Number of replies that were not asked for yet. */
  readonly left: () => number;
  readonly close: () => Promise<void>;
}
