import { type Step, reply, text, toolUse } from "../../src/model-server/step.ts";

/** A tool as a client announces it. */
export const announced = (name: string, more: object = {}) => ({
  name,
  description: "D.",
  inputSchema: { type: "object" },
  ...more,
});

/** Steps for the model: it calls this tool once, then says "Done." */
export const scriptOf = (name: string, input: Record<string, unknown> = {}): Step[] => [
  reply([toolUse(name, input)]),
  reply([text("Done.")]),
];
