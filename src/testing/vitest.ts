import { expect } from "vitest";
import { matchers, type TurnMatchers } from "./matchers.ts";

declare module "vitest" {
  // The parameters are Vitest's own: merged declarations must have the same ones.
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends TurnMatchers<R> {}
}

expect.extend(matchers);
