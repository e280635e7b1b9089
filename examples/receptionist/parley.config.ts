import { defineConfig } from "parley";

const OPENS = 9;
const CLOSES = 18;
/** The practice's own time zone, because a telephone does not reveal the caller's. */
const CLOCK = new Intl.DateTimeFormat("en-GB", {
  timeZone: "Europe/Berlin",
  weekday: "long",
  hour: "2-digit",
  hourCycle: "h23",
});

function isOpenNow(): boolean {
  const { hour, weekday } = Object.fromEntries(CLOCK.formatToParts(Date.now()).map(({ type, value }) => [type, value]));
  return Number(hour) >= OPENS && Number(hour) < CLOSES && weekday !== "Sunday";
}

/** The front desk of a medical practice, for callers by telephone and people on its page. */
export default defineConfig({
  instructions: ({ participants }) => {
    const [caller] = participants;
    return [
      "You are the receptionist of Dr. Weber's practice. Answer in one or two short spoken sentences.",
      // Quoted, because the name comes from the token and somebody typed it.
      caller?.name ? `The caller's name is given as ${JSON.stringify(caller.name)}.` : "Ask for the caller's name.",
      // This stays up to date: when the caller's `localTime` changes, once an hour, the function is called again.
      isOpenNow()
        ? "The practice is open. Transfer to the nurse what is about symptoms, to the office all about bills."
        : `The practice is closed; it opens at ${OPENS}. Take a message, and say when somebody will call back.`,
      "In an emergency, tell the caller to hang up and to dial 112. You never give medical advice.",
      "When the caller has all that was wanted, say goodbye and use end_call.",
    ].join(" ");
  },
  greeting: "Good day, this is Dr. Weber's practice. How can I help?",
  idle: [
    { afterMs: 8_000, say: "Are you still there?" },
    { afterMs: 8_000, end: "I hang up now. Please call again." },
  ],
  callTools: {
    end_call: true,
    skip_turn: true,
    press_keys: true,
    transfer_call: { nurse: "tel:+4930555001", office: "tel:+4930555002" },
    set_language: ["en", "de"],
  },
  permission: {
    // Transfers and key presses reach other people. So the caller is asked first, and can answer by voice.
    rules: [
      { type: "call", pattern: "transfer *", action: "ask" },
      { type: "call", pattern: "press *", action: "ask" },
    ],
    byVoice: true,
  },
});
