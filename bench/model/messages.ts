/** One request that the model received, with the id of its question. Times are from `clockMs`. */
export interface ModelCall {
  readonly id: string;
  readonly askedAt: number;
  readonly endedAt: number;
}

/**
 * Messages from the model's process to its parent. The parent may send any message to get the calls since its previous
 * message.
 */
export type FromModel =
  | { readonly type: "ready"; readonly port: number }
  | { readonly type: "calls"; readonly calls: readonly ModelCall[] };

/** An answer from the model, in pieces: text, or the input for a call of the tool `look_up`. */
export interface Step {
  readonly kind: "words" | "tool_input";
  readonly pieces: readonly string[];
}
