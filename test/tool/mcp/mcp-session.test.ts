import { expect, test, vi } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { HttpToolServer } from "./http-server.ts";
import { McpBench, STDIO_SERVER } from "./mcp-bench.ts";
import { announced } from "../../support/client-tool.ts";

/** Returns the names of the tools that each request to the model offers. */
function offered(agent: TestAgent): string[][] {
  return agent.model.requests.map(({ body }) => ((body["tools"] ?? []) as { name: string }[]).map(({ name }) => name));
}

test("a turn uses tools from two servers, and its next step is offered what one of them has added", async () => {
  await using server = await HttpToolServer.start();
  await using bench = new McpBench({
    shop: { url: server.url },
    local: { command: process.execPath, args: [STDIO_SERVER] },
  });
  await bench.until("shop_echo", "local_echo");
  await using agent = await TestAgent.start({ liveTools: bench.servers.tools });
  const user = await agent.client("user");
  const uses = [toolUse("shop_grow"), toolUse("local_echo", { text: "hi" }), toolUse("local_fail")];
  agent.model.script([reply(uses), reply([text("Done.")]), reply([text("More.")])]);

  expect(await user.answerTo(await user.say("Go"))).toBe("Done.");
  await bench.until("shop_extra");
  expect(await user.answerTo(await user.say("And now?"))).toBe("More.");

  expect(agent.model.rejections).toEqual([]);
  expect(offered(agent)[0]).toHaveLength(28);
  expect(offered(agent)[0]).not.toContain("shop_extra");
  expect(offered(agent)[2]).toContain("shop_extra");
  expect((await agent.calls()).toSorted((a, b) => (a.name < b.name ? -1 : 1))).toMatchObject([
    { name: "local_echo", state: "success", result: { value: "You said hi" } },
    { name: "local_fail", state: "error", error_code: "execution_error" },
    { name: "shop_grow", state: "success", result: { value: "grown" }, execution_resolved: "server" },
  ]);
});

test("a server that dies during a turn fails its call, and the turn continues without its tools", async () => {
  await using server = await HttpToolServer.start();
  await using bench = new McpBench({ shop: { url: server.url } });
  await bench.until("shop_echo");
  await using agent = await TestAgent.start({ liveTools: bench.servers.tools });
  const user = await agent.client("user");
  const again = toolUse("shop_echo", { text: "x" });
  agent.model.script([reply([toolUse("shop_crash")]), reply([again]), reply([text("It is away.")])]);

  expect(await user.answerTo(await user.say("Go"))).toBe("It is away.");

  expect(agent.model.rejections).toEqual([]);
  // Requests keep listing tools that the conversation has used.
  expect(offered(agent).slice(1)).toEqual([["shop_crash"], ["shop_crash", "shop_echo"]]);
  expect(await agent.calls()).toMatchObject([
    { name: "shop_crash", error_code: "execution_error" },
    { name: "shop_echo", error_code: "execution_error" },
  ]);
  await server.listen();
  await vi.waitFor(() => expect(bench.names).toHaveLength(14), { timeout: 10_000 });
});

test("clients are told about the tools that a server has added, and cannot use the name of one that may come", async () => {
  await using server = await HttpToolServer.start();
  await using bench = new McpBench({ shop: { url: server.url } });
  await bench.until("shop_echo");
  await using agent = await TestAgent.start({ liveTools: bench.servers.tools, toolNews: bench.servers });
  const user = await agent.client("user", { tools: [announced("shop_extra"), announced("scan")] });
  const toldOf = (name: string) =>
    user.all("configuration").some(({ tools }) => tools?.some((tool) => tool.name === name));
  expect(toldOf("shop_echo")).toBe(true);
  expect(await user.next("error_message")).toMatchObject({ code: 101, message: expect.stringContaining("shop_extra") });
  agent.model.script([reply([toolUse("shop_grow")]), reply([text("Grown.")])]);
  await user.answerTo(await user.say("Go"));
  expect(offered(agent)[0]).not.toContain("shop_extra");

  await user.until(() => toldOf("shop_extra"), "news of the tool");
});
