import { expect, test } from "vitest";
import { pino } from "pino";
import { reportDatabase } from "../../../src/worker/settings/report-database.ts";

function linesOf(databaseUrl: string, directUrl?: string): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const database = { databaseVersion: 1, isDatabaseNewer: false, pending: [], databaseUrl, listenUrl: databaseUrl };
  reportDatabase(database as never, { databaseUrl, directUrl }, logger as never);
  return lines;
}

test("parameters without effect are logged in one line, for each of the two addresses", () => {
  const neon = "postgres://u:p@h/db?sslmode=require&channel_binding=require&connection_limit=1";

  expect(linesOf(neon, "postgres://h/db?supa=x")).toMatchObject([
    { level: 30, variable: "DATABASE_URL", parameters: ["channel_binding", "connection_limit"] },
    { level: 30, variable: "DATABASE_DIRECT_URL", parameters: ["supa"] },
  ]);
});

test("an unknown parameter is a warning with a suggestion, and without its value", () => {
  const lines = linesOf("postgres://h/db?sslmod=sk-secret");

  expect(lines).toMatchObject([{ level: 40, parameters: ['sslmod. Did you mean "sslmode"?'] }]);
  expect(JSON.stringify(lines)).not.toContain("sk-secret");
});
