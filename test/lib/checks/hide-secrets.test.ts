import { expect, test } from "vitest";
import { hideSecrets } from "../../../src/lib/checks/hide-secrets.ts";

test.each([
  [
    "Request cannot be constructed from a URL that includes credentials: https://me:hunter2@h/v1",
    "credentials: https://h/v1",
  ],
  [
    "connect postgres://u:p@ss@db:5432/x?password=hunter2&sslmode=require failed",
    "connect postgres://db:5432/x?… failed",
  ],
  ["proxy http://user:hunter2@proxy:3128 refused", "proxy http://proxy:3128 refused"],
  ["wss://h/rtc?access_token=hunter2", "wss://h/rtc?…"],
  ["invalid token: eyJhbGciOi.eyJpc3MiOi.c2lnbmF0, signature", "invalid token: …, signature"],
  ["sent Authorization: Bearer abc.hunter2", "sent Authorization: …"],
  ["Received API Key = sk-ant-hunter2hunter2", "Received API Key = …"],
  ["password=hunter2 user=me", "password=… user=me"],
])("%s hides credentials", (text, hidden) => {
  expect(hideSecrets(text)).toContain(hidden);
  expect(hideSecrets(text)).not.toContain("hunter2");
});

test.each([
  "TOKEN_SECRET: expected 16 characters or more, got a string of 5 characters",
  "MCP server git: ENOENT: npx",
  "read https://docs.example.com/a/b#c, or write to me@example.com",
  "task-runner/sketch-of-a-larger-thing",
])("%s stays unchanged", (text) => {
  expect(hideSecrets(text)).toBe(text);
});

test.each([
  { headers: { cookie: "hunter2", other: 1 } },
  { authorization: null, list: ["Basic aHVudGVyMg=="] },
  { inner: JSON.stringify({ "x-api-key": "hunter2" }) },
])("the JSON line for %j stays JSON, without credentials", (line) => {
  const hidden = hideSecrets(JSON.stringify(line));

  expect(() => JSON.parse(hidden) as unknown).not.toThrow();
  expect(hidden).not.toMatch(/hunter2|aHVudGVyMg/u);
});

test("a line of JSON stays JSON", () => {
  const line = { msg: 'GET "https://u:p@h/?key=1" with "authorization": "Bearer hunter2hunter2"', error: "x://a:b@" };

  expect(JSON.parse(hideSecrets(JSON.stringify(line)))).toMatchObject({ error: "x://" });
});
