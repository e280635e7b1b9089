import type { ModelServer, RecordedRequest } from "../../../src/model-server/model-server.ts";
import { reply, text, thinking, toolUse, type Step } from "../../../src/model-server/step.ts";

/** A question's last word determines which tool it needs: none, the server's, or a device's. */
export const KINDS = ["plain", "look", "plain", "scan"] as const;
const KEPT_REQUESTS = 50;

/** The shares of the previous request's tokens that requests read from the cache. */
export interface CacheShares {
  /** For requests between two summaries. */
  readonly shares: number[];
  /** For requests that are the first with a new summary, which replaces more turns than the one before. */
  readonly afterSummary: number[];
}

/**
 * A model that thinks, calls the tool in the last question, and then repeats the question. Another model writes notes.
 */
export function playSoakModel(model: ModelServer): CacheShares {
  const cache: CacheShares = { shares: [], afterSummary: [] };
  let notes = 0;
  let [before, latest]: (RecordedRequest | undefined)[] = [];
  model.script((request) => {
    forgetOld(model.requests);
    if (request.body["model"] === "small") return reply([text(`<notes>They asked a lot, ${++notes} times.</notes>`)]);
    // A request's usage is known only once it is answered, so it is evaluated on the next request.
    if (before && latest) noteShare(cache, before, latest);
    [before, latest] = [latest, request];
    return answer(request);
  });
  return cache;
}

function noteShare({ shares, afterSummary }: CacheShares, before: RecordedRequest, request: RecordedRequest): void {
  const isFirstWithSummary = firstText(request) !== firstText(before);
  const read = Number(request.usage?.["cache_read_input_tokens"]);
  (isFirstWithSummary ? afterSummary : shares).push(read / tokensOf(before));
}

function firstText({ body }: RecordedRequest): string {
  return JSON.stringify((body["messages"] as unknown[])[0]);
}

function tokensOf({ usage = {} }: RecordedRequest): number {
  const counts = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
  return counts.reduce((sum, key) => sum + Number(usage[key]), 0);
}

/** Forgets old requests, because each contains a whole history. Keeps refused requests for the test to check. */
function forgetOld(requests: RecordedRequest[]): void {
  if (requests.length < 2 * KEPT_REQUESTS) return;
  const old = requests.splice(0, requests.length - KEPT_REQUESTS);
  requests.unshift(...old.filter(({ rejection }) => rejection !== undefined));
}

function answer({ body }: RecordedRequest): Step {
  const messages = body["messages"] as { readonly role: string; readonly content: unknown }[];
  const last = messages.findLast(({ role }) => role === "user");
  const isAnswered = JSON.stringify(last).includes('"tool_result"');
  const said = JSON.stringify(messages.filter(({ role }) => role === "user"));
  const question = said.match(/<\d+-\w+>/gu)?.at(-1) ?? "";
  const tool = KINDS.find((kind) => kind !== "plain" && question.endsWith(`${kind}>`));
  const thought = thinking(`Of ${question} I think this. ${"Hm. ".repeat(10)}`);
  if (tool !== undefined && !isAnswered) return reply([thought, toolUse(tool, { question })]);
  return reply([thought, text(`I have heard ${question}. ${"So it goes. ".repeat(5)}`)]);
}
