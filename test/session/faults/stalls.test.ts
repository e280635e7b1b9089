import { setTimeout as sleep } from "node:timers/promises";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { SimulateScenarioKind } from "@livekit/rtc-node";
import { expect, inject, test, vi } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import { createToken } from "../../support/participant.ts";
import { scriptOf } from "../../support/client-tool.ts";
import { lastContent } from "../../support/model-view.ts";

const CLIENT = fileURLToPath(new URL("../../support/processes/stopped-client.ts", import.meta.url));

/** A client process with our SDK that is stopped as soon as it runs its tool. */
class StoppedClient implements Disposable {
  readonly #process;
  #output = "";

  constructor(token: string, timeoutMs: number) {
    this.#process = spawn(process.execPath, [CLIENT, inject("livekitUrl"), token, String(timeoutMs)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#process.stdout.on("data", (bytes: Buffer) => (this.#output += bytes.toString()));
  }

  get runs(): number {
    return this.#output.split("\n").filter((line) => line === "ran").length;
  }

  async until(line: "ready" | "ran"): Promise<void> {
    await vi.waitUntil(async () => this.#output.includes(`${line}\n`), { timeout: 20_000 });
  }

  async stopFor(ms: number): Promise<void> {
    this.#process.kill("SIGSTOP");
    await sleep(ms);
    this.#process.kill("SIGCONT");
  }

  [Symbol.dispose](): void {
    this.#process.kill("SIGKILL");
  }
}

const SUCCESS = { state: "success", result: { pages: 1 } };

for (const [stopMs, timeoutMs, expected, shown, late] of [
  [3_000, 1_000, { state: "error", error_code: "timeout" }, /timed out after 1s/, ["late"]],
  [3_000, 30_000, SUCCESS, /"pages":1/, []],
  [8_000, 30_000, SUCCESS, /"pages":1/, []],
  // LiveKit considers the client gone after about 15 s, so the client rejoins and is asked again.
  [20_000, 60_000, SUCCESS, /"pages":1/, []],
] as const) {
  test.concurrent(
    `F12: a client that freezes for ${stopMs} ms in a call of ${timeoutMs} ms runs its tool once; the call: ${expected.state}`,
    { timeout: 90_000 },
    async () => {
      await using agent = await TestAgent.start();
      const watcher = await agent.client("watcher", { tools: [] });
      using client = new StoppedClient(await createToken(agent.roomName, "client"), timeoutMs);
      await client.until("ready");
      agent.model.script(scriptOf("scan"));
      const messageId = await watcher.say("Go");
      await client.until("ran");
      await client.stopFor(stopMs);
      expect(await watcher.answerTo(messageId, 40_000)).toBe("Done.");
      expect(await agent.calls()).toMatchObject([expected]);
      expect(lastContent(agent)).toMatch(shown);

      // The client works again as before.
      agent.model.script(scriptOf("scan"));
      expect(await watcher.answerTo(await watcher.say("Again"), 40_000)).toBe("Done.");
      expect((await agent.calls())[1]).toMatchObject(SUCCESS);
      expect(client.runs).toBe(2);
      await agent.leave();
      // A late result is stored with its call, but changes nothing. If the client was asked twice, its duplicate may be
      // stored as well.
      const [first] = await agent.calls();
      expect(first).toMatchObject(expected);
      const kinds = first?.extra_answers.map(({ kind }) => kind).filter((kind) => kind !== "duplicate");
      expect(kinds).toEqual(late);
    },
  );
}

test.concurrent(
  "F37: expiring tokens end no session, and a client can join again with a new one",
  { timeout: 60_000 },
  async () => {
    await using agent = await TestAgent.start({ tokenTtlSeconds: 2 });
    const user = await agent.client("user", {}, { ttlSeconds: 2 });
    agent.model.script(() => reply([text("Hello.")]));
    await sleep(4_000);
    expect(await user.answerTo(await user.say("Hi"))).toBe("Hello.");
    await user.reconnect(SimulateScenarioKind.SIMULATE_FULL_RECONNECT);
    await user.configure({});
    expect(await user.answerTo(await user.say("Still there?"))).toBe("Hello.");
    await user.leave();
    const again = await agent.client("user");
    expect(await again.answerTo(await again.say("Hi again"))).toBe("Hello.");
  },
);
