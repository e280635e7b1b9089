import type { SpokenTurn } from "@parley/react";
import { recordWorkerTime } from "./worker-clock.ts";
import { getWords } from "./words/words.ts";

/** Sends a request with the room's token. Rejects with the worker's error message. */
export async function request(token: string, path: string, init: RequestInit = {}): Promise<Response> {
  const type = init.body === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(path, { ...init, headers: { ...type, authorization: `Bearer ${token}` } });
  recordWorkerTime(response);
  if (response.ok) return response;
  const { error } = (await response.json().catch(() => ({}))) as { error?: string };
  throw new Error(error ?? getWords().conversations.workerAnswered(response.status));
}

/** Returns the JSON of the worker's response. Rejects like `request`. */
export async function readJson<Value>(token: string, path: string): Promise<Value> {
  return (await (await request(token, path)).json()) as Value;
}

/** Returns the session's id, or `undefined` before the room's first message. */
async function findSession(token: string): Promise<string | undefined> {
  const response = await request(token, "/session");
  if (response.status === 204) return undefined;
  const { id } = (await response.json()) as { id: string };
  return id;
}

/** Returns all turns, including those that a later turn replaced. */
export async function loadTurns(token: string): Promise<readonly SpokenTurn[]> {
  const id = await findSession(token);
  if (id === undefined) return [];
  const path = `/session/${encodeURIComponent(id)}/transcript`;
  const { turns } = await readJson<{ turns: readonly SpokenTurn[] }>(token, path);
  return turns;
}

/** Sends a request about the room's session. Rejects like `request`, and also before the room's first message. */
async function requestOfSession(token: string, path: string): Promise<Response> {
  const id = await findSession(token);
  if (id === undefined) throw new Error(getWords().conversations.nothingSaid);
  return request(token, `/session/${encodeURIComponent(id)}${path}`);
}

export async function loadTranscript(token: string, format: "markdown" | "json"): Promise<Blob> {
  return (await requestOfSession(token, `/transcript?format=${format}`)).blob();
}

/** Returns the conversation as a test for `parley test`. Rejects with the reason if that is not possible. */
export async function loadScenario(token: string): Promise<string> {
  return (await requestOfSession(token, "/scenario")).text();
}

/** Returns a call with its full arguments, logs and result, as JSON. */
export async function loadCall(token: string, callId: string): Promise<Blob> {
  return (await requestOfSession(token, `/calls/${encodeURIComponent(callId)}`)).blob();
}
