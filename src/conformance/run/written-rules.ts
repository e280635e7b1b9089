import { ensure, type Level, NotApplicable } from "../check.ts";
import { type Frame, type FrameFault, nameOf } from "../wire/frame.ts";
import { attempt, type Verdict } from "./run-suites.ts";

/** The frames that the subject sent to one participant. */
export interface Recording {
  readonly frames: readonly Frame[];
  /** The indexes of frames at which the subject rejoined. */
  readonly joins: readonly number[];
}

/** A rule that applies to every frame, no matter which check it was sent in. */
export interface WrittenRule {
  readonly id: string;
  readonly level: Level;
  readonly sentence: string;
  /** Returns how the frames break the rule, or `undefined` if they do not. */
  readonly find: (recording: Recording) => string | undefined;
}

/** Returns the rules that both sides must follow. @param level how binding the form is for this side */
export function formRules(level: Level): WrittenRule[] {
  const rule = (id: string, [how, sentence]: readonly [Level, string], broken: FrameFault["rule"]): WrittenRule => {
    return { id: `write.${id}`, level: how, sentence, find: faultOf(broken) };
  };
  return [
    rule("schema", ["MUST", "| `body` | map | By `type`."], "schema"),
    rule("keys", [level, "When you write a message, send all five keys, in this order;"], "keys"),
    rule("no-nil", [level, "leave absent fields out, never write nil;"], "nil"),
    rule("integers", [level, "write integers beyond 32 bits as float64."], "wide_integer"),
    rule(
      "conversation",
      ["MUST", "The room's conversation: `ac_X` for a room named `conv_ac_X`, else the room's name."],
      "conversation",
    ),
    rule("body-conversation", [level, "Every body also carries `conversationId`"], "body_conversation"),
    {
      id: "write.reliable",
      level: "MUST",
      sentence: "Reliable data packets on the topic `parley`;",
      find: ({ frames }) => (frames.every(({ isReliable }) => isReliable) ? undefined : "A packet was sent unreliably"),
    },
  ];
}

/** Checks all frames of the whole run. */
export async function judgeWriting(
  rules: readonly WrittenRule[],
  recordings: readonly Recording[],
): Promise<Verdict[]> {
  return Promise.all(
    rules.map(async ({ find, ...rule }) => {
      const outcome = await attempt(() => {
        if (recordings.every(({ frames }) => frames.length === 0)) throw new NotApplicable("Nothing was sent");
        const [fault] = recordings.flatMap((recording) => find(recording) ?? []);
        ensure(fault === undefined, fault ?? "");
      });
      return { ...rule, suite: "whole run", ...outcome, ms: 0 };
    }),
  );
}

function faultOf(rule: FrameFault["rule"]): WrittenRule["find"] {
  return ({ frames }) => {
    for (const frame of frames) {
      const fault = frame.faults.find((each) => each.rule === rule);
      if (fault) return `In ${nameOf(frame)}, stanza ${frame.stanzaId}: ${fault.text}`;
    }
    return undefined;
  };
}
