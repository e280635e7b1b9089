import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { forFile } from "../support/lifetimes.ts";
import { say } from "../web/page-world.ts";
import { TlsWorld } from "./support/tls-world.ts";

const world = forFile(() => TlsWorld.start());

/** A script that records the page's WebRTC connections. */
const WATCH_CONNECTIONS = `(() => {
  const connections = (globalThis.connections = []);
  globalThis.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(...args) {
      super(...args);
      connections.push(this);
    }
  };
})()`;

/**
 * The protocol between the browser and the relay for each connection in use; `null` for connections without a relay.
 */
const USED_CANDIDATES = `Promise.all(globalThis.connections.map(async (connection) => {
  const stats = [...(await connection.getStats()).values()];
  const of = (id) => stats.find((each) => each.id === id);
  const transport = stats.find((each) => each.type === "transport" && each.selectedCandidatePairId);
  if (!transport) return undefined;
  return of(of(transport.selectedCandidatePairId).localCandidateId).relayProtocol ?? null;
})).then((all) => all.filter((each) => each !== undefined))`;

/**
 * Opens the page, enters a room, and asks a question. @returns the relay protocol of each browser connection, if any
 */
async function ask(page: Page): Promise<readonly (string | null)[]> {
  await page.addInitScript(WATCH_CONNECTIONS);
  await page.goto(world.url);
  await page.getByLabel("Your name").fill("Ann");
  await page.keyboard.press("Enter");
  await page.getByLabel("The worker's secret").fill(world.tokenSecret);
  await page.keyboard.press("Enter");
  await page.getByText("The agent: Ready").waitFor();
  await say(page, "what is 21 * 2?");
  await page.getByText("21 * 2 is 42.", { exact: true }).waitFor();
  return page.evaluate<(string | null)[]>(USED_CANDIDATES);
}

test("a browser on another machine gets the page, a token and an answer over TLS, and connects directly", async () => {
  const page = await world.browser.newPage();
  const sockets: string[] = [];
  page.on("websocket", (socket) => sockets.push(new URL(socket.url()).origin));

  const candidates = await ask(page);

  expect(sockets).toEqual(["wss://parley.test"]);
  expect(candidates.length).toBeGreaterThan(0);
  for (const relay of candidates) expect(relay).toBeNull();
});

test("LiveKit's API, its worker connections and metrics are not reachable from outside", async () => {
  const page = await world.browser.newPage();
  await page.goto(world.url);
  const status = (path: string) => page.evaluate<number>(`fetch("${path}").then(({ status }) => status)`);

  expect(await status("/ready")).toBe(200);
  expect(await status("/metrics")).toBe(404);
  expect(await status("/twirp/livekit.RoomService/ListRooms")).toBe(404);
  expect(await status("/agent")).toBe(404);
});

test("a browser whose firewall allows only outgoing HTTPS gets an answer, through TURN over TLS", async () => {
  await world.network.closeClient(443);
  const page = await world.browser.newPage();

  const candidates = await ask(page);
  // Reloads HAProxy, as edge.sh does every day in case Caddy has renewed a certificate.
  await world.reloadEdge();
  await say(page, "what is 2 * 4?");
  await page.getByText("2 * 4 is 8.", { exact: true }).waitFor();

  expect(candidates.length).toBeGreaterThan(0);
  for (const relay of candidates) expect(relay).toBe("tls");
});
