/** Explains in one sentence why a command failed. Shown without a stack trace. */
export class TalkError extends Error {}
