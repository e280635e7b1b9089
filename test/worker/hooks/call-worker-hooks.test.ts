import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { reloadModules, startWorkerHooks, stopWorkerHooks } from "../../../src/worker/hooks/call-worker-hooks.ts";
import { registered, registerWorkerHooks, type WorkerHooks } from "../../../src/worker/hooks/worker-hooks.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

const OWN = relative("", fileURLToPath(import.meta.url));
const never = () => new Promise<void>(() => {});

let events: string[];
beforeEach(() => {
  events = [];
});
afterEach(async () => {
  registered.clear();
  await stopWorkerHooks();
  await stopWorkerHooks();
});

/** Loads a version of a module, whose hooks note that they were called. */
function load(name: string, hooks: readonly (keyof WorkerHooks)[] = ["onWorkerStart", "onWorkerStop"]): void {
  const noted = hooks.map((hook) => [hook, () => events.push(`${name} ${hook}`)] as const);
  registerWorkerHooks({ url: `file:///tools/${name}` }, Object.fromEntries(noted));
}

const isRenewed = (file: string) => file === "/tools/pool.ts";

test("modules are started in the order in which they were loaded, and stopped in the opposite order", async () => {
  load("pool.ts");
  load("orders.ts");

  await startWorkerHooks();
  await stopWorkerHooks();

  expect(events).toEqual([
    "pool.ts onWorkerStart",
    "orders.ts onWorkerStart",
    "orders.ts onWorkerStop",
    "pool.ts onWorkerStop",
  ]);
});

test("several users share what was started, and the last one stops it", async () => {
  load("pool.ts");
  await startWorkerHooks();
  load("orders.ts");
  await startWorkerHooks();
  await stopWorkerHooks();
  const before = [...events];
  await stopWorkerHooks();
  await startWorkerHooks();
  await stopWorkerHooks();

  expect(before).toEqual(["pool.ts onWorkerStart", "orders.ts onWorkerStart"]);
  expect(events.filter((event) => event.startsWith("pool.ts"))).toEqual([
    "pool.ts onWorkerStart",
    "pool.ts onWorkerStop",
    "pool.ts onWorkerStart",
    "pool.ts onWorkerStop",
  ]);
});

test("a hook that throws at the start stops the start, names the file and the place, and stops what was started", async () => {
  load("pool.ts");
  registerWorkerHooks(import.meta, {
    onWorkerStart: () => {
      throw new Error("no database");
    },
    onWorkerStop: () => events.push("stopped what was not started"),
  });
  load("orders.ts");

  const starting = startWorkerHooks();

  await expect(starting).rejects.toMatchObject({ code: "invalid_config" });
  await expect(starting).rejects.toThrow(
    new RegExp(`^${OWN}: onWorkerStart failed: no database \\(at ${OWN}:\\d+:13\\)$`),
  );
  expect(events).toEqual(["pool.ts onWorkerStart", "pool.ts onWorkerStop"]);
});

test("a hook that hangs hits its deadline and has its signal aborted", async () => {
  using clock = new VirtualClock();
  const signals: AbortSignal[] = [];
  registerWorkerHooks(import.meta, {
    onWorkerStart: ({ signal }) => {
      signals.push(signal);
      return never();
    },
  });

  const starting = startWorkerHooks();
  void starting.catch(() => {});
  await clock.run(10_000);

  await expect(starting).rejects.toThrow(`${OWN}: onWorkerStart timed out after 10 s`);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

test("hooks that throw or hang at the stop are reported, and the others are called", async () => {
  using clock = new VirtualClock();
  load("pool.ts");
  registerWorkerHooks(import.meta, { onWorkerStop: () => Promise.reject(new Error("already closed")) });
  registerWorkerHooks(import.meta, { onWorkerStop: never });
  await startWorkerHooks();

  const stopping = stopWorkerHooks();
  await clock.run(2_000);
  const failures = await stopping;

  expect(failures.map(({ message }) => message)).toEqual([
    `${OWN}: onWorkerStop timed out after 2 s`,
    expect.stringMatching(new RegExp(`^${OWN}: onWorkerStop failed: already closed`)),
  ]);
  expect(events).toEqual(["pool.ts onWorkerStart", "pool.ts onWorkerStop"]);
});

test.each([
  ["onReload", ["onWorkerStart", "onWorkerStop", "onReload"]],
  ["onWorkerStop", ["onWorkerStart", "onWorkerStop"]],
] as const)("a module that is loaded again gets %s before, and onWorkerStart after it", async (called, hooks) => {
  load("pool.ts", hooks);
  load("other.ts", hooks);
  await startWorkerHooks();
  events = [];

  await reloadModules(isRenewed, async () => {
    load("pool.ts?v=2", hooks);
    return true;
  });
  const reloaded = [...events];
  await stopWorkerHooks();

  expect(reloaded).toEqual([`pool.ts ${called}`, "pool.ts?v=2 onWorkerStart"]);
  expect(events.slice(2)).toEqual(["pool.ts?v=2 onWorkerStop", "other.ts onWorkerStop"]);
});

test("a version that stays in use because the new one cannot be loaded is started again", async () => {
  load("pool.ts");
  await startWorkerHooks();
  events = [];

  await reloadModules(isRenewed, async () => false);

  expect(events).toEqual(["pool.ts onWorkerStop", "pool.ts onWorkerStart"]);
});

test("a version that only a broken tool still uses is stopped once the tool has been fixed", async () => {
  load("pool.ts");
  await startWorkerHooks();
  await reloadModules(isRenewed, async () => {
    load("pool.ts?v=2");
    return false;
  });
  const whileBroken = events.slice(2);
  events = [];

  await reloadModules(
    () => false,
    async () => true,
  );
  const fixed = [...events];
  await stopWorkerHooks();

  expect(whileBroken).toEqual(["pool.ts onWorkerStart", "pool.ts?v=2 onWorkerStart"]);
  expect(fixed).toEqual(["pool.ts onWorkerStop"]);
  expect(events.slice(1)).toEqual(["pool.ts?v=2 onWorkerStop"]);
});

test("a module that is no longer imported is stopped for good", async () => {
  load("pool.ts");
  await startWorkerHooks();
  await reloadModules(isRenewed, async () => true);
  await stopWorkerHooks();

  expect(events).toEqual(["pool.ts onWorkerStart", "pool.ts onWorkerStop"]);
});

test("a start that fails after a reload is reported, and tried again with the next reload", async () => {
  await startWorkerHooks();
  let isDown = true;
  const load = async () => {
    registerWorkerHooks(import.meta, {
      onWorkerStart: () => {
        if (isDown) throw new Error("no database");
      },
    });
    return true;
  };

  const failures = await reloadModules(() => false, load);
  isDown = false;
  const later = await reloadModules(
    () => false,
    async () => true,
  );

  expect(failures.map(({ message }) => message)).toEqual([
    expect.stringContaining("onWorkerStart failed: no database"),
  ]);
  expect(later).toEqual([]);
  expect([...registered].map(({ isStarted }) => isStarted)).toEqual([true]);
});

test("misspelled hooks, hooks that are no functions, and a missing import.meta are refused", () => {
  const register = (meta: unknown, hooks: unknown) => () =>
    registerWorkerHooks(meta as ImportMeta, hooks as WorkerHooks);

  expect(register(import.meta, { onWorkerStrat: () => {} })).toThrow(
    '"onWorkerStrat" is not a field of registerWorkerHooks. Did you mean "onWorkerStart"?',
  );
  expect(register(import.meta, { onReload: "close" })).toThrow("registerWorkerHooks: onReload: expected a function");
  expect(register({ onWorkerStop: () => {} }, undefined)).toThrow("expected import.meta as the first argument");
  expect([...registered]).toEqual([]);
});
