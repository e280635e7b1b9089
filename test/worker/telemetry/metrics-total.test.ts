import { expect, test } from "vitest";
import { MetricsTotal, openMetricsHub } from "../../../src/worker/telemetry/metrics-hub.ts";

const metric = (kind: string, value: unknown) => ({
  name: "a.b",
  unit: "{call}",
  description: "",
  kind,
  points: [{ attributes: { way: "x" }, value }],
});
const from = (source: string, ...metrics: unknown[]) => ({ source, metrics });

test("two processes' counters are added up", () => {
  const total = new MetricsTotal();
  total.add(from("one", metric("sum", 2)));
  total.add(from("two", metric("sum", 3)));
  total.add(from("one", metric("sum", 1)));

  expect(total.render()).toContain('a_b_total{way="x"} 6');
});

test("a gauge is the sum of each process's last value", () => {
  const total = new MetricsTotal();
  total.add(from("one", metric("level", 2)));
  total.add(from("two", metric("level", 3)));
  total.add(from("one", metric("level", 1)));

  expect(total.render()).toContain('a_b{way="x"} 4');
});

test("histograms are added up bucket by bucket", () => {
  const total = new MetricsTotal();
  const value = { boundaries: [1, 2], counts: [1, 0, 2], sum: 7, count: 3 };
  total.add(from("one", metric("histogram", value)));
  total.add(from("two", metric("histogram", value)));

  expect(total.render()).toContain('a_b_bucket{way="x",le="1"} 2');
  expect(total.render()).toContain('a_b_bucket{way="x",le="+Inf"} 6');
  expect(total.render()).toContain('a_b_sum{way="x"} 14');
});

test("unreadable input counts for nothing", () => {
  const total = new MetricsTotal();

  expect(total.add(from("one", metric("sum", "many")))).toBe(false);
  expect(total.render()).not.toContain("a_b");
});

test("the hub accepts measurements only on its own path", async () => {
  const hub = await openMetricsHub();
  const body = JSON.stringify(from("one", metric("sum", 2)));
  const post = async (url: string) => (await fetch(url, { method: "POST", body })).status;

  expect([await post(new URL("/", hub.url).href), await post(hub.url)]).toEqual([404, 204]);
  expect(hub.render()).toContain('a_b_total{way="x"} 2');
  await hub.close();
});
