import { APIError } from "@anthropic-ai/sdk";
import { type ClientOptions, openClient } from "./open-client.ts";

/**
 * Asks the API whether it knows a model. If the response is inconclusive, asks whether the API accepts messages.
 * Neither request costs anything: the second one is empty, and every Messages API rejects an empty request. Returns the
 * HTTP statuses.
 *
 * @throws {Error} if there is no response
 */
export async function probeApi(
  options: ClientOptions,
  { model, signal }: { readonly model: string; readonly signal: AbortSignal },
): Promise<{ readonly ofModel: number; readonly ofMessages: number }> {
  const client = openClient(options);
  const ofModel = await statusOf(client.models.retrieve(model, {}, { signal }));
  if ([200, 401, 403].includes(ofModel)) return { ofModel, ofMessages: ofModel };
  return { ofModel, ofMessages: await statusOf(client.post("/v1/messages", { body: {}, signal })) };
}

async function statusOf(answer: Promise<unknown>): Promise<number> {
  try {
    await answer;
    return 200;
  } catch (error) {
    if (error instanceof APIError && error.status !== undefined) return error.status as number;
    throw error;
  }
}
