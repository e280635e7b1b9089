import type * as Aimock from "@copilotkit/aimock";
import { randomBytes } from "node:crypto";
import { MEMORY_TOOL, OUTCOME_TOOL } from "../../conversation/block.ts";
import { AppError } from "../../errors/app-error.ts";
import { findPackage } from "../../tool/find-package.ts";
import { howToInstall } from "../own-package.ts";
import type { Service } from "../services/service.ts";
import { startErrorMarks } from "./mark-errors.ts";
import { readCurrentTurn, type ToolAnswer } from "./current-turn.ts";
import { planToolCalls, toOfferedTool } from "./plan-tool-calls.ts";
import { sayAnswers } from "./say-answer.ts";

export interface ScriptedModel extends Service {
  readonly url: string;
  /** New at each start. Requests need it, so that no page in a browser can use this server. */
  readonly apiKey: string;
}

export const SCRIPTED_MODEL_NAME = "scripted";

/**
 * Starts a stand-in for Claude: a server of the Messages API on loopback. It knows few phrases (`plan-tool-calls.ts`),
 * uses the tools that the request offers, and says that it is no real model.
 *
 * @throws {AppError} `unavailable` when the package @copilotkit/aimock is not installed
 */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const { LLMock } = await loadAimock();
  const apiKey = randomBytes(24).toString("hex");
  const server = new LLMock({
    auth: { apiKeys: [apiKey] },
    host: "127.0.0.1",
    port: 0,
    logLevel: "silent",
    chunkSize: 16,
    latency: 5,
    journalMaxEntries: 1,
  });
  server.on({ predicate: () => true }, respond);
  const front = await startErrorMarks(await server.start());
  let closing: Promise<unknown> | undefined;
  const close = async () => void (await (closing ??= Promise.all([front.close(), server.stop()])));
  return { url: front.url, apiKey, close };
}

/** Imported only when it is wanted: an installation for production does not have it. */
async function loadAimock(): Promise<typeof Aimock> {
  const found = findPackage("@copilotkit/aimock");
  if (found !== undefined) return (await import(found)) as typeof Aimock;
  const advice = `set ANTHROPIC_API_KEY, or run ${howToInstall("@copilotkit/aimock")}`;
  throw new AppError("unavailable", `The scripted model is not installed: ${advice}`);
}

function respond(request: Aimock.ChatCompletionRequest): Aimock.FixtureResponse {
  const { question, previousQuestion, answers: all } = readCurrentTurn(request.messages);
  const answers = all.filter(({ name }) => name !== MEMORY_TOOL);
  // Outcomes of earlier calls may come with a question. A text in brackets is a note of the worker, and no question.
  const isAsked = answers.every(({ name }) => name === OUTCOME_TOOL) && !question.startsWith("[");
  const told = answers.length > 0 ? sayAnswers(answers.map(toAnswer)) : "";
  if (told !== "" && !isAsked) return { content: told };
  const tools = (request.tools ?? []).map((tool) => toOfferedTool(tool.function.name, tool.function.parameters));
  const calls = planToolCalls(question, new Map(tools.map((tool) => [tool.name, tool])));
  if (calls.length === 0) return { content: join(told, smallTalk(question, previousQuestion)) };
  return {
    content: join(told, calls.length === 1 ? "Let me see." : "Let me see to that."),
    toolCalls: calls.map((call) => ({ name: call.name, arguments: JSON.stringify(call.input) })),
  };
}

/** Gives a late outcome the name of its own tool. */
function toAnswer(answer: ToolAnswer): ToolAnswer {
  if (answer.name !== OUTCOME_TOOL) return answer;
  const tool = /"tool":"([^"]+)"/.exec(answer.input)?.[1];
  return { ...answer, name: tool ?? answer.name };
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
