import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { migrationFiles, migrationStatus } from "../../../src/store/database/migrate.ts";
import { emptyDatabase } from "../../support/servers/temp-database.ts";

const run = promisify(execFile);
const NEWEST = (await migrationFiles()).at(-1)?.version;

test("three processes that start together migrate once", async () => {
  const database = await emptyDatabase();
  onTestFinished(() => database.drop());
  const module = new URL("../../../src/store/database/migrate.ts", import.meta.url).href;
  const program = `const { migrate } = await import(${JSON.stringify(module)});
    console.log(JSON.stringify(await migrate(process.argv[1])));`;

  const starts = Array.from({ length: 3 }, () =>
    run(process.execPath, ["--input-type=module", "--eval", program, database.url]),
  );

  for (const { stdout } of await Promise.all(starts))
    expect(JSON.parse(stdout)).toMatchObject({ databaseVersion: NEWEST });
  expect(await migrationStatus(database.sql)).toMatchObject({ databaseVersion: NEWEST, pending: [] });
});
