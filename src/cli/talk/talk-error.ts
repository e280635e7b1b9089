/** Why a command cannot do its work, in one sentence for people. It is shown without a stack. */
export class TalkError extends Error {}
