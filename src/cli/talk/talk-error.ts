/** Says in one sentence, shown without a stack, why talking is not possible. */
export class TalkError extends Error {}
