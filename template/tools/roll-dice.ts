import { defineTool } from "parley";
import { z } from "zod";

// Runs in the worker. The file name gives the tool its name: roll_dice.
export default defineTool({
  description: "Rolls a die. Use it when the participant asks for a random roll.",
  input: z.strictObject({ sides: z.int().min(2).max(100) }),
  timeoutMs: 1_000,
  run: ({ sides }) => ({ rolled: 1 + Math.floor(Math.random() * sides) }),
});
