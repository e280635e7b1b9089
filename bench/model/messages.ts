/** One request, with the mark of its question. Times are by `clockMs`. */
export interface ModelCall {
  readonly id: string;
  readonly askedAt: number;
  readonly endedAt: number;
}

/** Messages of the model's process. Any message to it asks for the calls since the last time. */
export type FromModel =
  | { readonly type: "ready"; readonly port: number }
  | { readonly type: "calls"; readonly calls: readonly ModelCall[] };

/** An answer of the model, in pieces: words, or the input of a call of the tool `look_up`. */
export interface Step {
  readonly kind: "words" | "tool_input";
  readonly pieces: readonly string[];
}
