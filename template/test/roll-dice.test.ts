import assert from "node:assert/strict";
import { test } from "node:test";
import rollDice from "../tools/roll-dice.ts";

void test("a die shows one of its sides", async () => {
  const result = await rollDice.run?.({ sides: 6 } as never, {} as never);

  assert.match(JSON.stringify(result), /^\{"rolled":[1-6]\}$/);
});
