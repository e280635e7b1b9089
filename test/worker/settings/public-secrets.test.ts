import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { publicSecretsWarning } from "../../../src/worker/settings/public-secrets.ts";

const PUBLIC = "development-secret-that-everybody-knows";
const OWN = "a-secret-of-our-own-with-many-characters";
const CLOSED = { livekitPublicUrl: "ws://127.0.0.1:7880", publishAddress: "127.0.0.1" };
const OPEN = [
  { ...CLOSED, livekitPublicUrl: "wss://talk.example.com" },
  { ...CLOSED, publishAddress: "0.0.0.0" },
  { publishAddress: "192.168.1.10", livekitPublicUrl: undefined },
];

test.each(OPEN)("a LiveKit that others reach (%j) with a public secret lets anybody join", (reachable) => {
  for (const livekitApiSecret of [PUBLIC, "secret"])
    expect(publicSecretsWarning({ ...reachable, livekitApiSecret, tokenSecret: OWN })).toBe(
      "anybody can join: LIVEKIT_API_SECRET is a public default. Set your own LIVEKIT_API_KEY and LIVEKIT_API_SECRET",
    );
  expect(publicSecretsWarning({ ...reachable, livekitApiSecret: OWN, tokenSecret: PUBLIC })).toBe(
    "anybody can get a token: TOKEN_SECRET is a public default. Set your own TOKEN_SECRET",
  );
});

test("there is no warning for secrets of one's own, or if only this machine can reach LiveKit", () => {
  for (const reachable of OPEN)
    for (const tokenSecret of [OWN, undefined])
      expect(publicSecretsWarning({ ...reachable, livekitApiSecret: OWN, tokenSecret })).toBeUndefined();
  for (const livekitPublicUrl of [undefined, "ws://127.0.0.1:7880", "ws://localhost:7880", "ws://[::1]:7880"])
    expect(
      publicSecretsWarning({ ...CLOSED, livekitPublicUrl, livekitApiSecret: PUBLIC, tokenSecret: PUBLIC }),
    ).toBeUndefined();
});

test("the secret that counts as public is the default of docker-compose.yml", async () => {
  expect(await readFile("docker-compose.yml", "utf8")).toContain(`\${LIVEKIT_API_SECRET:-${PUBLIC}}`);
});
