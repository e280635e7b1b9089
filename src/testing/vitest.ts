import { expect } from "vitest";
import { matchers, type TurnMatchers } from "./matchers.ts";

declare module "vitest" {
  // Merged declarations must have the same type parameters, so these are copied from Vitest's.
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends TurnMatchers<R> {}
}

expect.extend(matchers);
