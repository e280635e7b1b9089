import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";

type Start<Thing> = () => Thing | Promise<Thing>;
type Ending = Disposable | AsyncDisposable;

/**
 * Starts something before each test in the calling file, and ends it after the test. Returns a proxy for what the
 * current test uses.
 */
export function forEachTest<Thing extends Ending>(start: Start<Thing>): Thing {
  return standIn(start, beforeEach, afterEach);
}

/** Starts something before the first test in the calling file and ends it after the last. Returns a proxy for it. */
export function forFile<Thing extends Ending>(start: Start<Thing>): Thing {
  return standIn(start, beforeAll, afterAll);
}

type Hook = (run: () => Promise<void>) => void;

function standIn<Thing extends Ending>(start: Start<Thing>, before: Hook, after: Hook): Thing {
  let thing: Thing;
  let starting: Promise<Thing>;
  before(async () => {
    starting = (async () => start())();
    thing = await starting;
  });
  // Ends the thing even if it started only after its hook had timed out. Otherwise, it would run forever.
  after(async () => {
    const [begun] = await Promise.allSettled([starting]);
    await using ending = new AsyncDisposableStack();
    if (begun.status === "fulfilled") ending.use(begun.value);
  });
  return new Proxy({} as Thing, {
    get: (_, key) => {
      const value: unknown = Reflect.get(thing, key);
      // Binds methods to the real object, because a method cannot access private fields through a proxy.
      return typeof value === "function" && !Object.hasOwn(thing, key) ? (value.bind(thing) as unknown) : value;
    },
    set: (_, key, value) => Reflect.set(thing, key, value),
  });
}
