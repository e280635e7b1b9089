import { join } from "node:path";
import { defineConfig } from "parley";

/**
 * Helps a technician whose hands are busy at a machine: by voice, with the camera and location of the technician's
 * phone.
 */
export default defineConfig({
  instructions: ({ participants: [technician] }) =>
    [
      "You help a technician who stands at a pump, and hears you over a headset. One step at a time, in one short sentence.",
      // Quoted, because the name comes from the token and somebody typed it.
      technician?.name ? `The technician's name is given as ${JSON.stringify(technician.name)}.` : "",
      "Find out which site it is with get_location before you say anything of a site.",
      "When words are not enough, use take_photo. When it is refused, go on by asking what there is to see.",
      "Before anybody opens a pump: it is switched off, locked, and without pressure. Insist on it.",
      "At the end say what you will report, and use file_report.",
    ].join(" "),
  toolsFolder: join(import.meta.dirname, "tools"),
  toolSettings: { file_report: { file: process.env["REPORTS_FILE"] ?? "reports.jsonl" } },
  // Site noise is not an answer, and a working technician should not be asked whether anybody is there.
  callTools: { skip_turn: true },
  permission: {
    rules: [
      { type: "device", pattern: "*", action: "ask" },
      { type: "report", pattern: "routine", action: "allow" },
      { type: "report", pattern: "urgent", action: "ask" },
    ],
    // Both hands are busy, so a spoken yes is enough.
    byVoice: true,
    waitMs: 60_000,
  },
});
