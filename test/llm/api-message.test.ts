import { expect, test } from "vitest";
import { ModelError } from "../../src/llm/model-error.ts";
import { startModelServer } from "../../src/model-server/model-server.ts";
import { httpError, type Step } from "../../src/model-server/step.ts";
import { forEachTest } from "../support/lifetimes.ts";
import { callModel, user } from "./call-model.ts";

const server = forEachTest(startModelServer);

test.each([
  [401, "invalid x-api-key", "invalid x-api-key"],
  [404, "model: claude-nosuch", "model: claude-nosuch"],
  [400, "max_tokens: 99999 > 64000", "max_tokens: 99999 > 64000"],
  [400, "messages.2.content.0: 'call me on 555' is too long", "messages.2.content.0"],
  [400, "The text 'call me on 555' is not allowed", undefined],
  [500, "could not read 'call me on 555'", undefined],
])("an error contains the API's words unless they may quote the conversation: %i %s", async (status, said, words) => {
  server.script([{ ...httpError(status), message: said } as Step]);

  const error: unknown = await callModel(server.url, [user("Hello")], { options: { maxRetries: 0 } }).catch((e) => e);

  expect(error).toBeInstanceOf(ModelError);
  expect((error as ModelError).apiMessage).toBe(words);
});
