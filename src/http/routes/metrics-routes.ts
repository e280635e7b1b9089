import type { HttpApp } from "../http-app.ts";

/** `GET /metrics`: what all sessions of this worker have measured, in Prometheus' text format. No content, no names. */
export function metricsRoutes(app: HttpApp, render: () => string): void {
  app.get("/metrics", (_request, reply) => reply.type("text/plain; version=0.0.4; charset=utf-8").send(render()));
}
