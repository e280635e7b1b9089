import { LLMock, type ChatCompletionRequest, type FixtureResponse } from "@copilotkit/aimock";
import { type Service } from "../services/service.ts";
import { readCurrentTurn } from "./current-turn.ts";
import { toOfferedTool } from "./offered-tool.ts";
import { planToolCalls } from "./plan-tool-calls.ts";
import { sayAnswers } from "./say-answer.ts";

export interface ScriptedModel extends Service {
  readonly url: string;
}

/** Stands for the key that the scripted model does not need. */
export const SCRIPTED_API_KEY = "scripted-model";
export const SCRIPTED_MODEL_NAME = "scripted";

/**
 * A stand-in for Claude that speaks the real Messages API on loopback, so that everything but the model's wit is real.
 * It knows a few phrases (`plan-tool-calls.ts`), uses the tools that the request offers, and says what it is.
 */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const server = new LLMock({
    host: "127.0.0.1",
    port: 0,
    logLevel: "silent",
    chunkSize: 16,
    latency: 5,
    journalMaxEntries: 1,
  });
  server.on({ predicate: () => true }, respond);
  const url = await server.start();
  let closing: Promise<void> | undefined;
  return { url, close: () => (closing ??= server.stop()) };
}

function respond(request: ChatCompletionRequest): FixtureResponse {
  const { question, previousQuestion, answers } = readCurrentTurn(request.messages);
  if (answers.length > 0) return { content: sayAnswers(answers) };
  const tools = (request.tools ?? []).map((tool) => toOfferedTool(tool.function.name, tool.function.parameters));
  const calls = planToolCalls(question, new Map(tools.map((tool) => [tool.name, tool])));
  if (calls.length === 0) return { content: smallTalk(question, previousQuestion) };
  return {
    content: calls.length === 1 ? "Let me see." : "Let me see to that.",
    toolCalls: calls.map((call) => ({ name: call.name, arguments: JSON.stringify(call.input) })),
  };
}

function smallTalk(question: string, previousQuestion: string | undefined): string {
  if (/\bwhat did i (?:just )?(?:say|ask)\b/i.test(question)) {
    return previousQuestion === undefined ? "You have said nothing before." : `You said: "${previousQuestion}"`;
  }
  const greeting = /^(?:hello|hi|hey|good (?:morning|evening))\b/i.test(question) ? "Hello! " : "";
  return `${greeting}I am a scripted model, not Claude: set ANTHROPIC_API_KEY to talk to the real one. Try "what is 21 * 2?", "what time is it in Europe/Paris?" or "search for LiveKit".`;
}
