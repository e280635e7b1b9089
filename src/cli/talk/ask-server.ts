import { isRecord } from "../../lib/json.ts";
import { TalkError } from "./talk-error.ts";

/** Sends a request to Parley's HTTP server. @throws {TalkError} when it does not respond, or responds with an error */
export async function askServer(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init).catch((cause: unknown) => {
    const text = `Parley does not answer at ${new URL(url).origin}. Start it with npm start, or name it with --http.`;
    throw new TalkError(text, { cause });
  });
  if (response.ok) return response;
  const answer = await readJson(response);
  const reason = isRecord(answer) && typeof answer["error"] === "string" ? `: ${answer["error"]}` : "";
  throw new TalkError(`${placeOf(response)} answered ${response.status}${reason}`);
}

/** Returns the response's JSON, or `undefined` if it is not JSON. @throws {TalkError} when the response breaks off */
export async function readJson(response: Response): Promise<unknown> {
  const text = await response.text().catch((cause: unknown) => {
    throw brokenOff(response, cause);
  });
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function brokenOff(response: Response, cause: unknown): TalkError {
  return new TalkError(`The response of ${placeOf(response)} was cut off: try again`, { cause });
}

function placeOf({ url }: Response): string {
  return url.replace(/\?.*$/su, "");
}
