/** Why talking is not possible, in one sentence for the person at the terminal; shown without a stack. */
export class TalkError extends Error {}
