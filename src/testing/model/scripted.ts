import { fieldsOf, refuseUnknownFields } from "../../lib/checks/did-you-mean.ts";
import type { JsonObject } from "../../lib/json.ts";
import { type RecordedRequest, startModelServer } from "../../model-server/model-server.ts";
import { reply, type Step, text, toolUse } from "../../model-server/step.ts";
import type { TestModel } from "./test-model.ts";

/** Tools to call, with their arguments. To call the same tool several times, put several of these in a list. */
type Uses = Readonly<Record<string, JsonObject>>;

interface WordsAndUses {
  readonly say?: string;
  readonly use?: Uses | readonly Uses[];
  /** How long the model takes before it writes anything. @defaultValue 0 */
  readonly afterMs?: number;
}

const REPLY = fieldsOf<WordsAndUses>({ say: true, use: true, afterMs: true });

/** The model's reply to one request: text, tool calls or both. */
export type ScriptedReply =
  | string
  | WordsAndUses
  // A step of the model server, for faults, thinking and complete recorded streams.
  | Step;

export type Script =
  | readonly ScriptedReply[]
  | ((request: RecordedRequest, index: number) => ScriptedReply | Promise<ScriptedReply>);

/**
 * Returns a model that replies as the test specifies. It serves the Messages API over loopback HTTP, and rejects what
 * Anthropic would reject. A list needs one reply for each request of the session.
 */
export function scripted(script: Script): TestModel {
  return {
    open: async () => {
      const steps = typeof script === "function" ? undefined : script.map(toStep);
      const server = await startModelServer();
      if (steps) server.script(steps);
      else if (typeof script === "function")
        server.script(async (request, index) => toStep(await script(request, index)));
      return {
        baseUrl: server.url,
        apiKey: "scripted",
        problems: () => {
          const refused = server.rejections.map((why) => `Anthropic would reject the agent's request: ${why}`);
          if (server.unscriptedCount === 0) return refused;
          return [...refused, `The script has ${steps?.length} replies, but the agent asked the model for one more`];
        },
        left: () => (steps ? Math.max(0, steps.length - answered(server.requests)) : 0),
        close: () => server.close(),
      };
    },
  };
}

function answered(requests: readonly RecordedRequest[]): number {
  return requests.filter(({ rejection }) => rejection === undefined).length;
}

function toStep(scriptedReply: ScriptedReply): Step {
  if (typeof scriptedReply === "string") return reply([text(scriptedReply)]);
  if ("kind" in scriptedReply) return scriptedReply;
  refuseUnknownFields(scriptedReply, REPLY, "a scripted reply");
  const { say, use = [], afterMs = 0 } = scriptedReply;
  const uses = (Array.isArray(use) ? (use as readonly Uses[]) : [use as Uses]).flatMap((each) => Object.entries(each));
  const words = say === undefined ? [] : [text(say)];
  if (words.length + uses.length === 0) throw new TypeError("A scripted reply needs say, use or both");
  return reply([...words, ...uses.map(([name, input]) => toolUse(name, { ...input }))], { afterMs });
}
