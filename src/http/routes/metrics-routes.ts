import type { HttpApp } from "../http-app.ts";

/**
 * `GET /metrics`: the metrics of all sessions of this worker in the Prometheus text format, without content or names.
 */
export function metricsRoutes(app: HttpApp, render: () => string): void {
  app.get("/metrics", (_request, reply) => reply.type("text/plain; version=0.0.4; charset=utf-8").send(render()));
}
