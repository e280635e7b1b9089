interface Answer {
  readonly kind: string;
  readonly success: boolean;
}

interface Answered<Extra extends Answer> {
  readonly status: string;
  readonly extraAnswers?: readonly Extra[];
}

/** Answers that came after a call's end. That a device has stopped what was cancelled is none. */
export function toExtraAnswers<Extra extends Answer>({ status, extraAnswers = [] }: Answered<Extra>): readonly Extra[] {
  return extraAnswers.filter(({ kind, success }) => status !== "cancelled" || kind !== "late" || success);
}
