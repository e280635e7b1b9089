import { expect, test, vi } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import { OtlpReceiver } from "../../support/servers/otlp-receiver.ts";
import { WorkerParts } from "../support/worker-parts.ts";

vi.setConfig({ testTimeout: 60_000 });

interface Running extends AsyncDisposable {
  readonly httpUrl: string;
  /** Runs one turn in a new room, in a job process. Resolves to the answer. */
  readonly talk: () => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** A worker with this repository's configuration, as a process. */
async function startWorker(env: NodeJS.ProcessEnv = {}): Promise<Running> {
  await using starting = new AsyncDisposableStack();
  const parts = starting.use(await WorkerParts.start());
  const main = await parts.run({ env, args: ["--worker-only"] });
  const { httpUrl = "" } = await main.ready;
  const stop = async () => {
    main.kill("SIGTERM");
    await main.exited;
  };
  const cleanup = starting.move();
  const talk = async () => {
    parts.model.script([reply([text("Done.")])]);
    const user = await parts.join(`room-${createId()}`, "user");
    await vi.waitFor(() => expect(user.room.remoteParticipants.size).toBe(1), { timeout: 20_000 });
    await user.configure({});
    return await user.answerTo(await user.say("Go"), 20_000);
  };
  return { httpUrl, talk, stop, [Symbol.asyncDispose]: () => cleanup.disposeAsync() };
}

test("/metrics of the main process shows what the host processes have measured", async () => {
  await using worker = await startWorker();
  const metrics = async () => (await fetch(`${worker.httpUrl}/metrics`)).text();
  expect(await worker.talk()).toBe("Done.");

  await vi.waitFor(async () => expect(await metrics()).toContain("gen_ai_invoke_agent_duration_count"), {
    timeout: 10_000,
    interval: 200,
  });
  expect(await metrics()).toMatch(/^parley_sessions 1$/m);
  expect(await metrics()).toContain("# HELP parley_sessions Sessions that are open.\n");
  expect(await metrics()).not.toContain("description missing");
  expect(await metrics()).toMatch(
    /^gen_ai_client_token_usage_bucket\{.*gen_ai_token_type="input".*le="67108864"\} 1$/m,
  );
});

test("with an endpoint, spans, metrics and logs from job processes are sent there, the last of them when the processes end", async () => {
  await using receiver = await OtlpReceiver.start();
  await using worker = await startWorker({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, LOG_LEVEL: "info" });
  expect(await worker.talk()).toBe("Done.");
  await worker.stop();

  const [turn] = receiver.named("invoke_agent parley");
  expect(turn?.resource["service.name"]).toBe("parley");
  expect(receiver.spans.find(({ name }) => name.startsWith("chat "))?.traceId).toBe(turn?.traceId);
  expect(receiver.metrics.map(({ name }) => name)).toContain("gen_ai.invoke_agent.duration");
  expect(receiver.logs.find(({ body }) => body === "turn ended")?.traceId).toBe(turn?.traceId);
});

test("OTEL_SDK_DISABLED=true sends nothing", async () => {
  await using receiver = await OtlpReceiver.start();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SDK_DISABLED: "true" };
  await using worker = await startWorker(env);
  expect(await worker.talk()).toBe("Done.");
  await worker.stop();

  expect(receiver.bodies).toEqual([]);
});
