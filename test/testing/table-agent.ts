import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { TalkOptions } from "../../src/testing/start-talk.ts";

/**
 * An agent that books tables, with one tool on the device, one that needs permission, and one that runs in the
 * background.
 */
export const tableAgent = {
  config: { instructions: "Be brief.", toolTimeoutMs: 200 },
  tools: {
    get_location: defineTool({
      description: "Says where the participant is.",
      input: z.object({}),
      execution: "client",
      readOnly: true,
    }),
    book: defineTool({
      description: "Books a table.",
      input: z.object({ city: z.string() }),
      permission: { type: "book", pattern: ({ city }) => city, title: ({ city }) => `Book a table in ${city}` },
      run: ({ city }) => ({ booked: city }),
    }),
    print: defineTool({
      description: "Prints the menu.",
      input: z.object({}),
      background: true,
      run: () => ({ pages: 2 }),
    }),
  },
} as const satisfies Partial<TalkOptions>;
