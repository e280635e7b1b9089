import { randomBytes } from "node:crypto";
import { MEMORY_TOOL, OUTCOME_TOOL } from "../../conversation/block.ts";
import { createId } from "../../lib/id.ts";
import { isRecord } from "../../lib/json.ts";
import { startModelServer, type RecordedRequest } from "../../model-server/model-server.ts";
import { reply, text, toolUse, type Step } from "../../model-server/step.ts";
import type { Service } from "../services/service.ts";
import { readCurrentTurn, type ToolAnswer } from "./current-turn.ts";
import { planToolCalls, toOfferedTool } from "./plan-tool-calls.ts";
import { sayAnswers } from "./say-answer.ts";

export interface ScriptedModel extends Service {
  readonly url: string;
  /** Generated at each start. Requests must contain this key, so that no web page can use the server. */
  readonly apiKey: string;
}

export const SCRIPTED_MODEL_NAME = "scripted";

/** Streams a few characters at a time, like a real model. */
const PACE = { chunking: 16, slow: 5 };

/**
 * Starts a stand-in for Claude: a Messages API server on loopback. It understands a few phrases (`plan-tool-calls.ts`),
 * uses the tools that the request offers, and says that it is not a real model.
 */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const apiKey = randomBytes(24).toString("hex");
  const server = await startModelServer({ apiKey, keepsRequests: 1 });
  server.script(respond);
  return { url: server.url, apiKey, close: () => server.close() };
}

function respond({ body }: Pick<RecordedRequest, "body">): Step {
  const { question, previousQuestion, answers: all } = readCurrentTurn(body["messages"]);
  const answers = all.filter(({ name }) => name !== MEMORY_TOOL);
  // Outcomes of earlier calls may arrive together with a question. Text in brackets is the worker's note, not a
  // question.
  const hasOnlyOutcomes = answers.every(({ name }) => name === OUTCOME_TOOL) && !question.startsWith("[");
  const outcomes = answers.length > 0 ? sayAnswers(answers.map(toAnswer)) : "";
  if (outcomes !== "" && !hasOnlyOutcomes) return reply([text(outcomes)], PACE);
  const calls = planToolCalls(question, offeredTools(body["tools"]));
  if (calls.length === 0) return reply([text(join(outcomes, smallTalk(question, previousQuestion)))], PACE);
  const words = join(outcomes, calls.length === 1 ? "Let me see." : "Let me see to that.");
  // The ids are unique, because a conversation may continue after a restart of the scripted model.
  const uses = calls.map(({ name, input }) => toolUse(name, input, `toolu_${createId()}`));
  return reply([text(words), ...uses], PACE);
}

function offeredTools(tools: unknown): Parameters<typeof planToolCalls>[1] {
  const offered = (Array.isArray(tools) ? tools.filter(isRecord) : []).map(({ name, input_schema: schema }) =>
    toOfferedTool(String(name), schema),
  );
  return new Map(offered.map((tool) => [tool.name, tool]));
}

/** Attributes a late outcome to the tool that produced it. */
function toAnswer(answer: ToolAnswer): ToolAnswer {
  if (answer.name !== OUTCOME_TOOL) return answer;
  const { tool } = answer.input;
  return { ...answer, name: typeof tool === "string" ? tool : answer.name };
}

function join(...texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join(" ");
}

function smallTalk(question: string, previousQuestion: string | undefined): string {
  if (/\bwhat did i (?:just )?(?:say|ask)\b/i.test(question)) {
    return previousQuestion === undefined ? "You have said nothing before." : `You said: "${previousQuestion}"`;
  }
  const greeting = /^(?:hello|hi|hey|good (?:morning|evening))\b/i.test(question) ? "Hello! " : "";
  return `${greeting}I am a scripted model, not Claude: set ANTHROPIC_API_KEY to talk to the real one. Try "what is 21 * 2?", "what time is it in Europe/Paris?", or name a tool: use calculator {"expression": "7 * 6"}`;
}
