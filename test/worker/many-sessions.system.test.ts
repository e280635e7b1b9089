import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { connect } from "../../src/store/database/pool.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { freePortVariables, jobProcesses, runMain } from "./support/run-main.ts";

test("npm run load fills a worker with sessions, which a few processes and connections serve, and reports all durations", async () => {
  await using folder = await tempFolder();
  const main = runMain({ ...(await freePortVariables()), PARLEY_DATA_DIR: folder.path, TTS: "none" });
  const { httpUrl = "" } = await main.ready;
  const flags = ["--url", httpUrl, "--rooms", "8", "--turns", "4", "--tools", "client,server", "--json"];

  const load = spawn(process.execPath, ["src/cli/load.ts", ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  const [output, [code]] = await Promise.all([text(load.stdout), once(load, "exit")]);
  const processes = jobProcesses(main.pid);
  const sql = connect(await main.databaseUrl, { maxConnections: 1, applicationName: "test" });
  const connections = await sql`select from pg_stat_activity where application_name like 'parley%'`;
  await sql.end();
  main.kill("SIGTERM");
  await main.ended;

  expect(JSON.parse(output)).toMatchObject({
    join: { count: 8 },
    firstWord: { count: 32 },
    answer: { count: 16 },
    answerWithClientTool: { count: 8 },
    answerWithServerTool: { count: 8 },
    errors: {},
  });
  expect(code).toBe(0);
  expect(processes.length).toBeLessThanOrEqual(2);
  // The limit is the one in docs/scaling.md: 3 connections for each of the two host processes, and 4 for the main
  // process.
  expect(connections.length).toBeLessThanOrEqual(2 * 3 + 4);
}, 60_000);
