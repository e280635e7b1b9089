/** A model that a talk is given. */
export interface TestModel {
  /** Starts it for one talk, which closes it. */
  readonly open: () => Promise<OpenModel>;
}

export interface OpenModel {
  /** Of the Messages API; undefined: Anthropic's. */
  readonly baseUrl: string | undefined;
  readonly apiKey: string;
  /** What is wrong with the test or the agent, as far as the model has seen it: a test with any has failed. */
  readonly problems: () => readonly string[];
  /** Replies that nobody has asked for yet. */
  readonly left: () => number;
  readonly close: () => Promise<void>;
}
