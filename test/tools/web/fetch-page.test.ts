import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { isPublicAddress } from "../../../tools/web/_address-guard.ts";
import { fetchPage } from "../../../tools/web/_fetch-page.ts";
import type { Network } from "../../../tools/web/_network.ts";
import { listen } from "./local-server.ts";

const never = new AbortController().signal;

/** The real rules with one exception: 127.0.0.1 counts as the public internet. 127.0.0.2 stays private. */
const network: Network = {
  resolve: async (host) => (host === "private.test" ? ["127.0.0.2"] : ["127.0.0.1"]),
  isAllowed: (address) => address === "127.0.0.1" || isPublicAddress(address),
};

const html: RequestListener = (_request, response) => {
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.end("<title>Hi</title><script>bad()</script><p>One &amp; <b>two</b></p><ul><li>three</ul>");
};

test("a page is returned as readable text", async () => {
  await using server = await listen(html);

  const page = await fetchPage(`http://site.test:${server.port}/a?b=c#d`, network, never);

  expect(page).toEqual({
    url: `http://site.test:${server.port}/a?b=c`,
    status: 200,
    contentType: "text/html",
    content: "Hi\nOne & two\n- three",
    truncated: false,
  });
});

test("an error page is an answer too", async () => {
  await using server = await listen((_request, response) => {
    response.writeHead(404, { "content-type": "text/plain" }).end("nothing here");
  });
  const page = await fetchPage(`http://site.test:${server.port}/`, network, never);
  expect(page).toMatchObject({ status: 404, content: "nothing here" });
});

test("the request contains the host, refuses compression and carries nothing else", async () => {
  let headers: unknown;
  await using server = await listen((request, response) => {
    headers = request.headers;
    html(request, response);
  });
  await fetchPage(`http://site.test:${server.port}/`, network, never);
  expect(headers).toEqual({
    host: `site.test:${server.port}`,
    accept: "text/html, text/*, application/json",
    "accept-encoding": "identity",
    "user-agent": "Parley",
    connection: expect.any(String),
  });
});

test.each([
  "http://127.0.0.2:{port}/",
  "http://private.test:{port}/",
  "http://0x7f.2:{port}/",
  "http://[::1]:{port}/",
  "http://[::ffff:7f00:1]:{port}/",
  "http://0.0.0.0:{port}/",
  "http://169.254.169.254/latest/meta-data/",
])("%s is never connected to", async (template) => {
  await using server = await listen(html);
  const url = template.replace("{port}", String(server.port));
  await expect(fetchPage(url, network, never)).rejects.toThrow("is not on the public internet");
  expect(server.requests).toEqual([]);
});

test.each([1, 2, 3, 4, 5])("a redirect to a private address at hop %i is refused", async (hop) => {
  await using server = await listen((request, response) => {
    const step = Number(request.url?.slice(1)) + 1;
    const host = step === hop ? "private.test" : "site.test";
    response.writeHead(302, { location: `http://${host}:${server.port}/${step}` }).end();
  });
  const fetched = fetchPage(`http://site.test:${server.port}/0`, network, never);
  await expect(fetched).rejects.toThrow("private.test is not on the public internet");
  expect(server.requests).toHaveLength(hop);
});

test.each([
  ["file:///etc/passwd", "Only http and https"],
  ["//user@site.test/", "user name or password"],
  ["http://site.test:25/", "port 25"],
  ["http://[", "not a valid URL"],
])("a redirect to %s is refused", async (location, message) => {
  await using server = await listen((_request, response) => {
    response.writeHead(301, { location }).end();
  });
  await expect(fetchPage(`http://site.test:${server.port}/`, network, never)).rejects.toThrow(message);
});

test("five redirects are followed, relative ones too", async () => {
  await using server = await listen((request, response) => {
    const step = Number(request.url?.slice(1));
    if (step === 5) html(request, response);
    else response.writeHead(307, { location: `${step + 1}` }).end();
  });
  const page = await fetchPage(`http://site.test:${server.port}/0`, network, never);
  expect(page.url).toBe(`http://site.test:${server.port}/5`);
});

test("a redirect loop ends after the sixth request", async () => {
  await using server = await listen((_request, response) => {
    response.writeHead(302, { location: "/" }).end();
  });
  const fetched = fetchPage(`http://site.test:${server.port}/`, network, never);
  await expect(fetched).rejects.toThrow("redirects more than 5 times");
  expect(server.requests).toHaveLength(6);
});

test("a name that resolves differently the second time is resolved only once, and the checked address is used", async () => {
  await using server = await listen(html);
  const resolve = vi.fn<Network["resolve"]>().mockResolvedValue(["127.0.0.2"]).mockResolvedValueOnce(["127.0.0.1"]);

  const page = await fetchPage(`http://rebind.test:${server.port}/`, { ...network, resolve }, never);

  expect(page.status).toBe(200);
  expect(resolve).toHaveBeenCalledTimes(1);
});

test("a name that resolves to a private address on the second hop is refused there", async () => {
  await using server = await listen((_request, response) => {
    response.writeHead(302, { location: "/again" }).end();
  });
  const resolve = vi.fn<Network["resolve"]>().mockResolvedValue(["127.0.0.2"]).mockResolvedValueOnce(["127.0.0.1"]);
  const fetched = fetchPage(`http://rebind.test:${server.port}/`, { ...network, resolve }, never);
  await expect(fetched).rejects.toThrow("rebind.test is not on the public internet");
  expect(server.requests).toEqual(["/"]);
});

test("one private address among several excludes the host", async () => {
  await using server = await listen(html);
  const mixed: Network = { ...network, resolve: async () => ["127.0.0.1", "10.0.0.1"] };
  await expect(fetchPage(`http://mixed.test:${server.port}/`, mixed, never)).rejects.toThrow(
    "not on the public internet",
  );
  expect(server.requests).toEqual([]);
});

test.each([
  ["fails", () => Promise.reject(new Error("ENOTFOUND"))],
  ["finds nothing", () => Promise.resolve([])],
])("a name lookup that %s is reported", async (_name, resolve) => {
  const fetched = fetchPage("http://nowhere.test/", { ...network, resolve }, never);
  await expect(fetched).rejects.toThrow("The host nowhere.test was not found");
});

test("an endless body is cut off at a megabyte and the connection closed", async () => {
  await using server = await listen((_request, response) => {
    response.setHeader("content-type", "text/plain");
    const write = (): unknown => {
      while (response.write("x".repeat(65_536)));
      return response.once("drain", write);
    };
    write();
  });
  const page = await fetchPage(`http://site.test:${server.port}/`, network, never);
  expect(page).toMatchObject({ truncated: true, content: "x".repeat(50_000) });
  await expect.poll(server.connectionCount).toBe(0);
});

test("an announced body of ten gigabytes is read only up to the limit", async () => {
  await using server = await listen((_request, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-length": "10000000000" });
    response.write("y".repeat(1_500_000));
  });
  const page = await fetchPage(`http://site.test:${server.port}/`, network, never);
  expect(page.truncated).toBe(true);
});

test("a slow body ends with the signal's reason, and the connection closes", async () => {
  await using server = await listen((_request, response) => {
    response.setHeader("content-type", "text/plain");
    const timer = setInterval(() => response.write("."), 5);
    response.on("close", () => clearInterval(timer));
  });
  const fetched = fetchPage(`http://site.test:${server.port}/`, network, AbortSignal.timeout(100));
  await expect(fetched).rejects.toMatchObject({ name: "TimeoutError" });
  await expect.poll(server.connectionCount).toBe(0);
});

test("an abort while waiting for the response rejects with its own reason", async () => {
  await using server = await listen(() => {});
  const abort = new AbortController();
  const fetched = fetchPage(`http://site.test:${server.port}/`, network, abort.signal);
  await expect.poll(() => server.requests.length).toBe(1);
  const stop = new Error("stop");
  abort.abort(stop);
  await expect(fetched).rejects.toBe(stop);
  await expect.poll(server.connectionCount).toBe(0);
});

test("an abort during the name lookup rejects with its own reason", async () => {
  const stuck: Network = { ...network, resolve: () => new Promise(() => {}) };
  const fetched = fetchPage("http://site.test/", stuck, AbortSignal.timeout(20));
  await expect(fetched).rejects.toMatchObject({ name: "TimeoutError" });
});

test.each(["gzip", "deflate", "br", "zstd", "gzip, gzip"])("%s content is refused unread", async (encoding) => {
  await using server = await listen((_request, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-encoding": encoding });
    response.end(gzipSync(Buffer.alloc(50_000_000)));
  });
  const fetched = fetchPage(`http://site.test:${server.port}/`, network, never);
  await expect(fetched).rejects.toThrow(`The server sent compressed content (${encoding}), which cannot be read`);
});

test.each(["image/png", "application/octet-stream", "application/pdf", "video/mp4", undefined])(
  "content of type %s is refused",
  async (contentType) => {
    await using server = await listen((_request, response) => {
      response.writeHead(200, contentType === undefined ? {} : { "content-type": contentType }).end("data");
    });
    const fetched = fetchPage(`http://site.test:${server.port}/`, network, never);
    await expect(fetched).rejects.toThrow(`Only text can be read, but the content type is ${contentType ?? "missing"}`);
  },
);

test.each([
  [
    "a body shorter than promised",
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 99\r\n\r\nshort",
    "was lost",
  ],
  ["a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "valid HTTP"],
  ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "valid HTTP"],
  [
    "length and chunks",
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "valid HTTP",
  ],
  ["a megabyte of headers", `HTTP/1.1 200 OK\r\nx: ${"x".repeat(1_000_000)}\r\n\r\n`, "headers are too large"],
  ["no HTTP at all", "SSH-2.0-OpenSSH_9.9\r\n", "valid HTTP"],
  ["nothing", "", "could not be reached"],
  [
    "another protocol",
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    "a protocol other than HTTP",
  ],
  ["an upgrade to nothing", "HTTP/1.1 101 Switching Protocols\r\n\r\n", "Only text can be read"],
])("a response with %s is an error in plain words", async (_name, bytes, message) => {
  await using server = await listenRaw(bytes);
  await expect(fetchPage(`http://site.test:${server.port}/`, network, never)).rejects.toThrow(message);
});

test("a body longer than announced is cut off at the announced length", async () => {
  await using server = await listenRaw(
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nabcdef",
  );
  const page = await fetchPage(`http://site.test:${server.port}/`, network, never);
  expect(page.content).toBe("ab");
});

test("a closed port is reported without its address", async () => {
  await expect(fetchPage("http://site.test:1025/", network, never)).rejects.toThrow(
    /^The server could not be reached \(ECONNREFUSED\)$/,
  );
});

test("an untrusted certificate is refused", async () => {
  await using server = await listen(html, selfSigned());
  const fetched = fetchPage(`https://site.test:${server.port}/`, network, never);
  await expect(fetched).rejects.toThrow("certificate is not valid (DEPTH_ZERO_SELF_SIGNED_CERT)");
  expect(server.requests).toEqual([]);
});

/** Answers every connection with the same bytes, whatever the request. */
async function listenRaw(bytes: string) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(bytes));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" ? address?.port : undefined,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

function selfSigned() {
  const folder = mkdtempSync(join(tmpdir(), "parley-cert-"));
  const files = ["-keyout", join(folder, "key"), "-out", join(folder, "cert")];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=site.test"];
  try {
    execFileSync("openssl", ["req", "-x509", "-days", "2", ...kind, ...files], { stdio: "ignore" });
    return { key: readFileSync(join(folder, "key")), cert: readFileSync(join(folder, "cert")) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
