import { z } from "zod";
import type { State } from "../conversation/state/session-state.ts";

/** A participant's turn, before the model is asked. */
export interface UserTurn {
  /** The identity of the participant whose turn it is. */
  readonly participant: string;
  /** What the participant said or typed. */
  readonly text: string;
  /** The participant's language, a BCP 47 tag. */
  readonly language: string | undefined;
}

/** The session that a hook is called for. */
export interface HookSession {
  readonly sessionId: string;
  readonly conversationId: string;
  readonly room: string;
  /** LiveKit's id of the room. */
  readonly roomSid: string;
  /** The agent that serves the session. */
  readonly agent: string;
  /** The session's state. These hooks read it and cannot change it. */
  readonly state: State;
  /** Aborted at the deadline, and when the turn is interrupted. The worker then stops waiting for the hook. */
  readonly signal: AbortSignal;
}

const words = z.string().max(100_000).regex(/\S/u, "expected some text");
/** Whether participants may interrupt what the hook lets the agent say. @defaultValue true */
const interruptible = z.boolean().exactOptional();

/** What `onUserTurn` may return. `undefined` leaves the turn as it is. */
export const userTurnDecisionSchema = z.union(
  [
    z.undefined(),
    z
      .strictObject({
        /** Added to the participant's message for the model. */
        context: words.exactOptional(),
        /** Shown to the model in place of what the participant said. */
        text: words.exactOptional(),
        /** What the agent says. The model is not called. */
        answer: words.exactOptional(),
        interruptible,
      })
      .refine(({ text, answer }) => text === undefined || answer === undefined)
      .refine(({ answer, interruptible: isSet }) => isSet === undefined || answer !== undefined),
    /** The model never sees the message. The agent says these words, or with `true` that it cannot help. */
    z.strictObject({ refuse: z.union([z.literal(true), words]), interruptible }),
  ],
  'onUserTurn: expected it to return nothing, {context, text}, {context, answer, interruptible} or {refuse: true or "…", interruptible}',
);

export type UserTurnDecision = z.input<typeof userTurnDecisionSchema>;

/** Called before the model is asked. It may add context, change or refuse the words, or answer. */
export type OnUserTurn = (
  turn: UserTurn,
  session: HookSession,
) => UserTurnDecision | void | Promise<UserTurnDecision | void>;

/** What `onAnswer` may return. `undefined` leaves the sentence as it is. */
export const answerDecisionSchema = z.union(
  [
    z.undefined(),
    /** Replaces the sentence. An empty text leaves it out. */
    z.strictObject({ text: z.string().max(100_000) }),
    /** Ends the answer before the sentence. The agent says these words, or with `true` that it cannot help. */
    z.strictObject({ stop: z.union([z.literal(true), words]) }),
  ],
  'onAnswer: expected it to return nothing, {text: "…"} or {stop: true or "…"}',
);

export type AnswerDecision = z.input<typeof answerDecisionSchema>;

/** Called with each sentence that the model writes, before it is sent and spoken. It may change the sentence, or stop the answer. */
export type OnAnswer = (
  sentence: string,
  session: HookSession,
) => AnswerDecision | void | Promise<AnswerDecision | void>;

/** @param maxMs the longest time that an author may let a turn wait for the hook */
function hookField<Run>(maxMs: number) {
  const run = z.custom<Run>((value) => typeof value === "function");
  return z
    .union(
      [
        run,
        z.strictObject({
          run,
          /** How long the turn waits for the hook, in ms. @defaultValue 2000 for `onUserTurn`, 50 for `onAnswer` */
          withinMs: z.int().min(1).max(maxMs).exactOptional(),
          /**
           * What happens if the hook is late or fails: the turn or the sentence continues unchanged, or the turn is
           * refused or its answer stopped.
           *
           * @defaultValue "go_on"
           */
          onLate: z.enum(["go_on", "refuse"]).exactOptional(),
        }),
      ],
      `expected a function or {run: function, withinMs: 1 to ${maxMs}, onLate: "go_on" or "refuse"}`,
    )
    .exactOptional();
}

/** Hooks that a turn waits for, and that may change it. */
export const turnHookFields = {
  onUserTurn: hookField<OnUserTurn>(30_000),
  onAnswer: hookField<OnAnswer>(5_000),
};
