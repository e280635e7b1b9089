import { z } from "zod";
import { askUserTool } from "../../client/forms.ts";
import type { Parley } from "../../client/index.ts";
import { readSharedFile } from "./shared-folder.ts";
import type { TerminalForms } from "./terminal-forms.ts";

export interface ToolsOptions {
  /** The shared folder, as returned by `openFolder`, if any. */
  readonly folder: string | undefined;
  readonly notify: (text: string) => void;
  /** Undefined if nobody can fill in forms. */
  readonly forms: TerminalForms | undefined;
}

/** Registers the tools that run in this terminal. */
export function registerTools(parley: Parley, { folder, notify, forms }: ToolsOptions): void {
  if (forms) parley.registerTool(askUserTool((form, context) => forms.show(form, context)));
  parley.registerTool({
    name: "read_local_file",
    description: "Reads a text file in the folder that the participant shares. Paths are relative to that folder.",
    input: z.strictObject({ filePath: z.string().min(1).max(4_096) }),
    timeoutMs: 5_000,
    readOnly: true,
    run: async ({ filePath }) => {
      if (folder === undefined)
        throw new Error("The participant has not shared a folder. To share one, start talk with --folder <path>");
      return readSharedFile(folder, filePath);
    },
  });
  parley.registerTool({
    name: "get_local_time",
    description: "The date and time on the participant's own device, with its time zone.",
    input: z.strictObject({}),
    timeoutMs: 2_000,
    readOnly: true,
    run: () => localTime(new Date()),
  });
  parley.registerTool({
    name: "show_notification",
    description: "Shows a short text to the participant on their own device.",
    input: z.strictObject({ text: z.string().min(1).max(500) }),
    timeoutMs: 2_000,
    run: ({ text }) => {
      notify(text);
      return { shown: true };
    },
  });
}

function localTime(now: Date): { time: string; timeZone: string; iso: string } {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const time = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "medium" }).format(now);
  return { time, timeZone, iso: now.toISOString() };
}
