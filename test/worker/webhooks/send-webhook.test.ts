import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { sendWebhook } from "../../../src/worker/webhooks/send-webhook.ts";

test.each([
  ["hello\r\n\r\n", "HTTPParserError"],
  [`HTTP/1.1 200 OK\r\n${"x-header: 1\r\n".repeat(100_000)}\r\n`, "UND_ERR_HEADERS_OVERFLOW"],
  ["", "UND_ERR_SOCKET"],
])("the reason why a receiver refused a webhook is reported, whatever it answers (%#)", async (answer, why) => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(answer));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const secret = `whsec_${Buffer.alloc(32).toString("base64")}`;

  expect(await sendWebhook({ url, secret }, { id: "1", body: "{}" }, new AbortController().signal)).toBe(why);
});
