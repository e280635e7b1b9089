import { expect, test } from "vitest";
import { ResultStore } from "../../../src/client/tools/result-store.ts";

const success = (id: string) => ({ id, success: true, result: {} });

test("a result is found by its request's id", () => {
  const store = new ResultStore();

  store.add(success("r1"), 10);

  expect(store.find("r1")).toEqual(success("r1"));
  expect(store.find("r2")).toBeUndefined();
});

test("large results are dropped, but their ids still prevent a second run", () => {
  const store = new ResultStore();
  for (let n = 0; n < 5; n++) store.add(success(`r${n}`), 3 * 1024 * 1024);

  expect(store.find("r4")).toEqual(success("r4"));
  expect(store.find("r0")).toMatchObject({ success: false, errorCode: "execution_error" });
});

test("the number of ids is limited, too", () => {
  const store = new ResultStore();
  for (let n = 0; n < 6_000; n++) store.add(success(`r${n}`), 1);

  expect(store.find("r0")).toBeUndefined();
  expect(store.find("r5999")).toEqual(success("r5999"));
});
