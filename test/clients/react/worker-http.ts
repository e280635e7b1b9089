import { onTestFinished, vi } from "vitest";

/** `ParleyProvider`'s `http` for the page's own worker. */
export const HTTP = { url: "", token: "token" };

/**
 * Replaces `fetch` for the rest of the test. The answer depends on the path, and an answer `{error}` has status 409.
 * Returns a list to which each request is added.
 */
export function answerFetch(answers: Readonly<Record<string, object>>): readonly string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (path: string, { method = "GET", headers }: RequestInit = {}) => {
    asked.push(`${method} ${path} ${new Headers(headers).get("authorization")}`);
    const answer = answers[path] ?? {};
    return new Response(JSON.stringify(answer), { status: "error" in answer ? 409 : 200 });
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return asked;
}
