export interface EspeakRequest {
  readonly id: number;
  readonly text: string;
  readonly voice: string;
}

export interface EspeakAnswer {
  readonly id: number;
  /** Undefined: the voice is not known, or the program failed. */
  readonly wav: Uint8Array | undefined;
}
