import type { ExtraAnswer } from "@parley/react";
import type { Timings } from "./timings.ts";
import { noteWorkerTime } from "./worker-clock.ts";

/** A turn of the transcript (docs/transcripts.md). */
export interface StoredTurn {
  readonly turnId: string;
  readonly participant: string;
  readonly messageId?: string;
  readonly said?: string;
  readonly saidBy?: string;
  readonly answer: readonly StoredPart[];
  readonly state: string;
  readonly heard?: string;
  readonly timings?: Timings;
  readonly isReplaced?: boolean;
}

export interface StoredPart {
  readonly type: "text" | "tool";
  readonly text?: string;
  readonly toolUseId?: string;
  readonly callId?: string;
  readonly name?: string;
  readonly state?: string;
  readonly ranOn?: "server" | "client" | "anthropic";
  readonly participant?: string;
  readonly input?: unknown;
  readonly modelInput?: unknown;
  readonly logs?: readonly string[];
  readonly result?: unknown;
  readonly display?: Readonly<Record<string, unknown>>;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly startedAt?: number;
  readonly finishedAt?: number;
  readonly extraAnswers?: readonly ExtraAnswer[];
}

/** Sends a request with the room's token. Rejects with the worker's own text. */
export async function request(token: string, path: string, init: RequestInit = {}): Promise<Response> {
  return orReject(await ask(token, path, init));
}

/** The JSON of the worker's answer. Rejects as `request`. */
export async function readJson<Value>(token: string, path: string): Promise<Value> {
  return (await (await request(token, path)).json()) as Value;
}

async function ask(token: string, path: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(path, { ...init, headers: { authorization: `Bearer ${token}` } });
  noteWorkerTime(response);
  return response;
}

async function orReject(response: Response): Promise<Response> {
  if (response.ok) return response;
  const { error } = (await response.json().catch(() => ({}))) as { error?: string };
  throw new Error(error ?? `The worker answered with ${response.status}`);
}

/** The session's id, or `undefined` before the room's first message. */
async function findSession(token: string): Promise<string | undefined> {
  const response = await ask(token, "/session");
  if (response.status === 404) return undefined;
  const { id } = (await (await orReject(response)).json()) as { id: string };
  return id;
}

/** Also those that a later one has replaced. */
export async function loadTurns(token: string): Promise<readonly StoredTurn[]> {
  const id = await findSession(token);
  if (id === undefined) return [];
  const path = `/session/${encodeURIComponent(id)}/transcript`;
  const { turns } = await readJson<{ turns: readonly StoredTurn[] }>(token, path);
  return turns;
}

export async function loadTranscript(token: string, format: "markdown" | "json"): Promise<Blob> {
  const id = await findSession(token);
  if (id === undefined) throw new Error("Nothing has been said yet.");
  return (await request(token, `/session/${encodeURIComponent(id)}/transcript?format=${format}`)).blob();
}

/** The talk as a test for `parley test`. Rejects with the reason why that is not possible. */
export async function loadScenario(token: string): Promise<string> {
  const id = await findSession(token);
  if (id === undefined) throw new Error("Nothing has been said yet.");
  return (await request(token, `/session/${encodeURIComponent(id)}/scenario`)).text();
}
