import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { checkSecrets } from "../../../src/worker/settings/public-secrets.ts";

const PUBLIC = "development-secret-that-everybody-knows";
const OWN = "a-secret-of-our-own-with-many-characters";
const CLOSED = { livekitPublicUrl: "ws://127.0.0.1:7880", publishAddress: "127.0.0.1" };
const OPEN = { ...CLOSED, livekitPublicUrl: "wss://talk.example.com" };
const PUBLISHED = [
  { ...CLOSED, publishAddress: "0.0.0.0" },
  { publishAddress: "192.168.1.10", livekitPublicUrl: undefined },
];

const CAN_JOIN =
  "anybody can join: LIVEKIT_API_SECRET is a public default. Set your own LIVEKIT_API_KEY and LIVEKIT_API_SECRET";
const GETS_TOKENS = "anybody can get a token: TOKEN_SECRET is a public default. Set your own TOKEN_SECRET";

test("a LiveKit that others can reach with a public secret lets anybody join", () => {
  for (const livekitApiSecret of [PUBLIC, "secret"])
    expect(checkSecrets({ ...OPEN, livekitApiSecret, tokenSecret: OWN })).toBe(CAN_JOIN);
  expect(checkSecrets({ ...OPEN, livekitApiSecret: OWN, tokenSecret: PUBLIC })).toBe(GETS_TOKENS);
});

test.each(PUBLISHED)(
  "with docker-compose.yml no worker starts if its ports are published (%j) with a public secret",
  (reach) => {
    const check = (secrets: { livekitApiSecret: string; tokenSecret: string }) => () =>
      checkSecrets({ ...reach, ...secrets });

    expect(check({ livekitApiSecret: PUBLIC, tokenSecret: OWN })).toThrow(
      `LiveKit's ports are published on ${reach.publishAddress}, so ${CAN_JOIN}`,
    );
    expect(check({ livekitApiSecret: OWN, tokenSecret: PUBLIC })).toThrow(GETS_TOKENS);
  },
);

test("there is no warning for private secrets, or if only this machine can reach LiveKit", () => {
  for (const reachable of [OPEN, ...PUBLISHED])
    for (const tokenSecret of [OWN, undefined])
      expect(checkSecrets({ ...reachable, livekitApiSecret: OWN, tokenSecret })).toBeUndefined();
  for (const livekitPublicUrl of [undefined, "ws://127.0.0.1:7880", "ws://localhost:7880", "ws://[::1]:7880"])
    expect(
      checkSecrets({ ...CLOSED, livekitPublicUrl, livekitApiSecret: PUBLIC, tokenSecret: PUBLIC }),
    ).toBeUndefined();
});

test("the secret that counts as public is the default of docker-compose.yml", async () => {
  expect(await readFile("docker-compose.yml", "utf8")).toContain(`\${LIVEKIT_API_SECRET:-${PUBLIC}}`);
});
