import type { HttpApp } from "../http-app.ts";

/** A dependency of the worker. `check` rejects or resolves to `false` when it is not available. */
export interface ReadyCheck {
  readonly part: string;
  readonly check: () => Promise<boolean>;
  /** Whether the worker is not ready while the check fails. @defaultValue true */
  readonly isRequired?: boolean;
}

const TIME_LIMIT_MS = 3_000;

/**
 * `GET /health`: this process responds. `GET /ready`: whether all required parts are available (200, else 503), with the
 * state of each part.
 */
export function healthRoutes(app: HttpApp, checks: readonly ReadyCheck[]): void {
  app.get("/health", () => ({ status: "ok" }));
  app.get("/ready", async (_request, reply) => {
    const states = await Promise.all(checks.map(({ check }) => holds(check)));
    const isReady = checks.every(({ isRequired = true }, index) => !isRequired || states[index] === "ok");
    const parts = Object.fromEntries(checks.map(({ part }, index) => [part, states[index]]));
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? "ready" : "not ready", ...parts });
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
