import { expect, test } from "vitest";
import { Cleanup } from "../../src/lib/cleanup.ts";

test("resources are closed in reverse order, once each", async () => {
  const closed: string[] = [];
  const cleanup = new Cleanup();
  cleanup.defer(() => closed.push("first"));
  cleanup.use({ [Symbol.asyncDispose]: async () => void closed.push("last") });

  await cleanup.disposeAsync();
  await cleanup.disposeAsync();

  expect(closed).toEqual(["last", "first"]);
  expect(cleanup.disposed).toBe(true);
});

test("moved resources are closed by the new owner", async () => {
  const closed: string[] = [];
  const cleanup = new Cleanup();
  cleanup.defer(() => closed.push("first"));

  const other = cleanup.move();
  await cleanup.disposeAsync();
  const before = [...closed];
  await other.disposeAsync();

  expect([before, closed]).toEqual([[], ["first"]]);
});

test("a resource that cannot be closed does not keep the others open", async () => {
  const closed: string[] = [];
  const cleanup = new Cleanup();
  cleanup.defer(() => closed.push("first"));
  cleanup.defer(() => Promise.reject(new Error("broken")));

  await expect(cleanup.disposeAsync()).rejects.toThrow("broken");

  expect(closed).toEqual(["first"]);
});
