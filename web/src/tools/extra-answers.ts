interface Answer {
  readonly kind: string;
  readonly success: boolean;
}

interface Answered<Extra extends Answer> {
  readonly status: string;
  readonly extraAnswers?: readonly Extra[];
}

/** The answers after a call's end, without a device's answer that it has stopped a cancelled call. */
export function toExtraAnswers<Extra extends Answer>({ status, extraAnswers = [] }: Answered<Extra>): readonly Extra[] {
  return extraAnswers.filter(({ kind, success }) => status !== "cancelled" || kind !== "late" || success);
}
