interface Answer {
  readonly kind: string;
  readonly success: boolean;
}

interface Answered<Extra extends Answer> {
  readonly status: string;
  readonly extraAnswers?: readonly Extra[];
}

/** Returns the answers after a call's end, except a device's confirmation that it stopped a canceled call. */
export function toExtraAnswers<Extra extends Answer>({ status, extraAnswers = [] }: Answered<Extra>): readonly Extra[] {
  return extraAnswers.filter(({ kind, success }) => status !== "cancelled" || kind !== "late" || success);
}
