import { pino } from "pino";
import { beforeAll, expect, test, vi } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { EmbeddedRecognizer } from "../../src/voice/providers/embedded/embedded-recognizer.ts";
import { SPEECH_SOCKET } from "../../src/voice/providers/embedded/open-model.ts";
import { startSpeechProcess } from "../support/embedded-speech.ts";
import { forFile } from "../support/lifetimes.ts";
import { recording, RECORDING_RATE } from "../support/recordings.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";
import { pidsNaming } from "../worker/support/run-main.ts";

vi.setConfig({ hookTimeout: 180_000 });

/** `npm run test:soak-voice` runs a hundred turns. */
const TURNS = Number(process.env["EMBEDDED_SOAK_TURNS"] ?? 10);
const KILL_EVERY = 5;

beforeAll(() => warmUp());

const speech = forFile(() => startSpeechProcess(pino({ level: "silent" })));

const isKilledIn = (turn: number) => turn % KILL_EVERY === KILL_EVERY - 1;

/** Returns half a second of sound without words: a hum, a knock or a hiss. */
function noise(kind: number): Int16Array {
  return new Int16Array(RECORDING_RATE / 2).map((_, at) => {
    if (kind % 3 === 0) return 4_000 * Math.sin((at / RECORDING_RATE) * 2 * Math.PI * 60);
    if (kind % 3 === 1) return at < 800 ? 8_000 * Math.sin(at / 5) * Math.exp(-at / 200) : 0;
    return ((at * 7_919) % 4_001) - 2_000;
  });
}

test(
  `each of ${TURNS} spoken turns is understood, between noises and although the speech process is killed again and again`,
  { timeout: TURNS * 20_000 + 60_000 },
  async () => {
    const recognizer = await EmbeddedRecognizer.load({ [SPEECH_SOCKET]: speech.socket });
    await using voice = await VoiceAgent.start({ stt: recognizer });
    const user = await voice.speaker("user");
    voice.agent.model.script(() => reply([text("I see.")]));
    const clubs = [await recording("ten-of-clubs"), await recording("seven-of-clubs")];
    const understood: string[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      await user.play(noise(turn));
      await user.untilSilence(1_000);
      const finals = () => user.client.all("transcription").filter(({ final }) => final);
      const before = finals().length;
      const { to } = await user.play(clubs[turn % 2] ?? new Int16Array(0));
      if (isKilledIn(turn)) for (const pid of pidsNaming(speech.socket)) process.kill(pid, "SIGKILL");
      await user.untilSound(to, 20_000);
      await user.untilSilence();
      understood.push(
        finals()
          .slice(before)
          .map((each) => each.text.toLowerCase().replaceAll(/[^a-z ]/gu, ""))
          .join(" "),
      );
    }

    const expected = Array.from({ length: TURNS }, (_, turn) => (turn % 2 === 0 ? "ten of clubs" : "seven of clubs"));
    // If the killed process takes too long to come back, the agent says that it did not hear the utterance.
    const lost = understood.flatMap((words, turn) => (words === expected[turn] ? [] : [{ words, turn }]));
    expect(lost.filter(({ words, turn }) => words !== "" || !isKilledIn(turn))).toEqual([]);
    const [stored] = await voice.agent.sql`select count(*)::int as count from turns`;
    expect(stored?.["count"]).toBe(TURNS - lost.length);
    expect(voice.agent.model.rejections).toEqual([]);
  },
);
