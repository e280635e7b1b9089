import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createHttpServer } from "../../../src/http/http-server.ts";
import { readPage } from "../../../src/http/page/page-files.ts";
import { tempFolder } from "../../support/temp-folder.ts";

async function serverOf(folder: string, publicUrl = "ws://127.0.0.1:7880") {
  return createHttpServer({
    logger: pino({ enabled: false }),
    livekit: { url: publicUrl, apiKey: "key", apiSecret: "secret-of-at-least-thirty-two-characters" },
    publicUrl,
    checks: [],
    token: { isOpen: false, secret: undefined },
    page: readPage(folder),
  });
}

async function builtPage(folder: string): Promise<void> {
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), "<!doctype html><title>Parley</title>");
  await writeFile(join(folder, "assets/index-1.js"), "export {};");
  await writeFile(join(folder, "assets/font-1.woff2"), "");
}

test("the page's policy allows only the page's origin and LiveKit", async () => {
  await using folder = await tempFolder();
  await builtPage(folder.path);
  const app = await serverOf(folder.path);

  const { headers, body, statusCode } = await app.inject({ url: "/?room=kitchen" });

  expect(statusCode).toBe(200);
  expect(body).toContain("<title>Parley</title>");
  expect(headers["content-type"]).toBe("text/html; charset=utf-8");
  const policy = String(headers["content-security-policy"]);
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self';");
  expect(policy).toContain("connect-src 'self' ws://127.0.0.1:7880 http://127.0.0.1:7880;");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain("unsafe");
});

test("a LiveKit in the cloud may refer to another of its hosts", async () => {
  await using folder = await tempFolder();
  await builtPage(folder.path);
  const app = await serverOf(folder.path, "wss://talks.livekit.cloud");

  const { headers } = await app.inject({ url: "/" });

  expect(headers["content-security-policy"]).toContain(
    "wss://talks.livekit.cloud https://talks.livekit.cloud wss://*.livekit.cloud https://*.livekit.cloud;",
  );
});

test("a browser requests the page each time and caches its files", async () => {
  await using folder = await tempFolder();
  await builtPage(folder.path);
  const app = await serverOf(folder.path);

  const page = await app.inject({ url: "/" });
  const again = await app.inject({ url: "/", headers: { "if-none-match": String(page.headers["etag"]) } });
  const script = await app.inject({ url: "/assets/index-1.js" });

  expect(page.headers["cache-control"]).toBe("no-cache");
  expect(again.statusCode).toBe(304);
  expect(script.headers["cache-control"]).toBe("max-age=31536000, immutable");
  expect(script.headers["content-type"]).toBe("text/javascript; charset=utf-8");
  const font = await app.inject({ url: "/assets/font-1.woff2" });
  expect(font.headers["content-type"]).toBe("font/woff2");
});

test("no request path leads to another file", async () => {
  await using folder = await tempFolder();
  await builtPage(folder.path);
  await writeFile(join(folder.path, "secret.pem"), "secret");
  const app = await serverOf(folder.path);

  for (const url of ["/secret.pem", "/assets/../secret.pem", "/assets/%2e%2e/secret.pem", "/index.html", "/assets"])
    expect((await app.inject({ url })).statusCode).toBe(404);
});

test("without a built page the response says how to build one", async () => {
  await using folder = await tempFolder();
  const app = await serverOf(folder.path);

  const { statusCode, body } = await app.inject({ url: "/" });

  expect(statusCode).toBe(404);
  expect(body).toContain("npm run build:page");
});
