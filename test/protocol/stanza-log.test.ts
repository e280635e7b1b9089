import { expect, test } from "vitest";
import { StanzaLog } from "../../src/protocol/stanza-log.ts";

const bytes = new Uint8Array(10);

function filled(count: number, destinations: readonly string[] | "all" = "all"): StanzaLog {
  const log = new StanzaLog();
  for (let number = 1; number <= count; number++) log.add({ stanzaId: -number, bytes, destinations });
  return log;
}

function idsAfter(log: StanzaLog, lastSequenceSeen: number, identity = "anna"): number[] {
  return log.after(lastSequenceSeen, identity).entries.map(({ stanzaId }) => stanzaId);
}

test("envelopes after the last seen stanza are returned in order, whatever the sign", () => {
  expect(idsAfter(filled(4), -2)).toEqual([-3, -4]);
  expect(idsAfter(filled(4), 2)).toEqual([-3, -4]);
  expect(idsAfter(filled(4), 9)).toEqual([]);
});

test("a participant gets only the envelopes addressed to it", () => {
  const log = new StanzaLog();
  log.add({ stanzaId: -1, bytes, destinations: ["anna"] });
  log.add({ stanzaId: -2, bytes, destinations: ["bob"] });
  log.add({ stanzaId: -3, bytes, destinations: "all" });

  expect(idsAfter(log, 0, "anna")).toEqual([-1, -3]);
  expect(idsAfter(log, 0, "bob")).toEqual([-2, -3]);
});

test("acknowledgements are not kept", () => {
  const log = new StanzaLog();
  log.add({ stanzaId: 0, bytes, destinations: "all" });

  expect(log.after(0, "anna")).toMatchObject({ entries: [], hasGap: false });
});

test("the oldest of over 500 envelopes are dropped, which is a gap for those who had not seen them", () => {
  const log = filled(503);

  expect(log.after(0, "anna").entries).toHaveLength(500);
  expect(log.after(2, "anna").hasGap).toBe(true);
  expect(log.after(3, "anna").hasGap).toBe(false);
});

test("another participant's lost envelopes are no gap", () => {
  const log = filled(501, ["bob"]);

  expect(log.after(0, "anna").hasGap).toBe(false);
  expect(log.after(0, "bob").hasGap).toBe(true);
});

test("at most 1 MiB is kept", () => {
  const log = new StanzaLog();
  for (let number = 1; number <= 5; number++)
    log.add({ stanzaId: -number, bytes: new Uint8Array(300_000), destinations: "all" });

  expect(idsAfter(log, 0)).toEqual([-3, -4, -5]);
  expect(log.after(0, "anna").hasGap).toBe(true);
});

test("an envelope over 1 MiB is not kept, and is a gap", () => {
  const log = filled(1);
  log.add({ stanzaId: -2, bytes: new Uint8Array(2_000_000), destinations: "all" });

  expect(log.after(1, "anna")).toMatchObject({ entries: [], hasGap: true });
});

test("envelopes sent by an earlier worker are a gap", () => {
  const log = new StanzaLog({ sentBefore: -40 });
  log.add({ stanzaId: -41, bytes, destinations: "all" });

  expect(log.after(39, "anna").hasGap).toBe(true);
  expect(log.after(40, "anna")).toMatchObject({ entries: [{ stanzaId: -41 }], hasGap: false });
});
