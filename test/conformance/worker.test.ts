import { expect, test } from "vitest";
import { fetchToken } from "../../src/cli/talk/fetch-token.ts";
import { createId } from "../../src/lib/id.ts";
import { checkWorker } from "../../src/conformance/worker/check-worker.ts";
import { runMain, settingsFor } from "../worker/support/run-main.ts";
import { startOwnLivekit } from "../support/servers/own-livekit.ts";
import { tempDatabase } from "../support/servers/temp-database.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { notPassed } from "./run-client.ts";

test("our worker passes every check", { timeout: 120_000 }, async () => {
  await using cleanup = new AsyncDisposableStack();
  const { path: folder } = cleanup.use(await tempFolder());
  const { url: databaseUrl } = cleanup.use(await tempDatabase());
  const livekit = await startOwnLivekit();
  cleanup.defer(() => livekit.close());
  const settings = await settingsFor({ livekit, databaseUrl, modelUrl: "", folder });
  // Without an API key and an address, the scripted model answers.
  const scripted = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined };
  const tokenSecret = createId();
  const main = runMain({ ...settings, ...scripted, TOKEN_SECRET: tokenSecret });
  cleanup.defer(async () => {
    main.kill("SIGTERM");
    await main.ended;
  });
  const { httpUrl = "" } = await main.ready;

  const verdicts = await checkWorker((room, identity) => fetchToken({ httpUrl, room, identity, tokenSecret }));

  expect(notPassed(verdicts)).toEqual([]);
});
