import type { HttpApp } from "../http-app.ts";

/** A dependency of the worker. `check` rejects or resolves to `false` when it is not available. */
export interface ReadyCheck {
  readonly part: string;
  readonly check: () => Promise<boolean>;
}

const TIME_LIMIT_MS = 3_000;

/**
 * `GET /health`: this process responds. `GET /ready`: whether everything a turn needs is available (200, else 503),
 * with the state of each part.
 */
export function healthRoutes(app: HttpApp, checks: readonly ReadyCheck[]): void {
  app.get("/health", () => ({ status: "ok" }));
  app.get("/ready", async (_request, reply) => {
    const results = await Promise.all(checks.map(async ({ part, check }) => [part, await holds(check)] as const));
    const isReady = results.every(([, state]) => state === "ok");
    return reply
      .code(isReady ? 200 : 503)
      .send({ status: isReady ? "ready" : "not ready", ...Object.fromEntries(results) });
  });
}

/**
 * Runs a check. The result does not say why the check failed, because an error's text may contain addresses and names.
 */
async function holds(check: ReadyCheck["check"]): Promise<"ok" | "failed" | "no answer"> {
  const limit = Promise.withResolvers<"no answer">();
  const timer = setTimeout(() => limit.resolve("no answer"), TIME_LIMIT_MS);
  const result = check().then(
    (isFine) => (isFine ? "ok" : "failed"),
    () => "failed" as const,
  );
  try {
    return await Promise.race([result, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}
