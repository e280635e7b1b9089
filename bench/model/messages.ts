/** One request, by the mark of the question that it was about; times are `clockMs`. */
export interface ModelCall {
  readonly id: string;
  readonly askedAt: number;
  readonly endedAt: number;
}

/** What the model's process says; any message to it asks for the calls since it was asked last. */
export type FromModel =
  | { readonly type: "ready"; readonly port: number }
  | { readonly type: "calls"; readonly calls: readonly ModelCall[] };

/** What the model says, in pieces: words, or the input of a call of the tool `look_up`. */
export interface Step {
  readonly kind: "words" | "tool_input";
  readonly pieces: readonly string[];
}
