import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Room } from "@livekit/rtc-node";
import { expect, inject, test } from "vitest";
import { RoomSound } from "../../../src/cli/talk/room-sound.ts";
import { type SoundPrograms, SOUND_RATE } from "../../../src/cli/talk/sound-programs.ts";
import { loudBlocks } from "../../../src/testing/stage/speaker.ts";
import { createToken, Participant } from "../../support/participant.ts";
import { Speaker } from "../../support/speaker.ts";
import { tempFolder } from "../../support/temp-folder.ts";

/** A program that writes a tone of 440 Hz to stdout, 20 ms at a time. */
const RECORD = `
  let at = 0;
  setInterval(() => {
    const samples = Int16Array.from({ length: ${SOUND_RATE / 50} }, () => 8000 * Math.sin((at++ * 2 * Math.PI * 440) / ${SOUND_RATE}));
    process.stdout.write(Buffer.from(samples.buffer));
  }, 20);`;

/** A program that writes what it is given to a file, as a loudspeaker would play it. */
function playTo(file: string): SoundPrograms["play"] {
  const code = `process.stdin.pipe(require("node:fs").createWriteStream(${JSON.stringify(file)}))`;
  return [process.execPath, "-e", code];
}

test("the microphone is heard in the room, and what others say is played", async () => {
  await using folder = await tempFolder();
  const file = join(folder.path, "played");
  const name = `sound-${crypto.randomUUID()}`;
  const problems: string[] = [];
  const room = new Room();
  const programs = { record: [process.execPath, "-e", RECORD], play: playTo(file) } as const;
  const sound = new RoomSound(room, programs, (text) => problems.push(text));
  await room.connect(inject("livekitUrl"), await createToken(name, "me", { kind: "agent" }), {
    autoSubscribe: true,
    dynacast: false,
  });
  const other = new Speaker(await Participant.join(name, "other"));

  await sound.publishMicrophone();
  await other.publish();
  await other.untilHeard(0.5);
  await other.say("Good morning, how are you today?");
  const playedSeconds = async () => {
    const bytes = await readFile(file).catch(() => Buffer.alloc(0));
    const samples = new Int16Array(new Uint8Array(bytes.subarray(0, bytes.length - (bytes.length % 2))).buffer);
    return loudBlocks(samples, SOUND_RATE).filter(Boolean).length / 100;
  };
  await expect.poll(playedSeconds, { timeout: 10_000 }).toBeGreaterThan(1);

  sound[Symbol.dispose]();
  await room.disconnect();
  await other.close();
  await other.client.leave();
  expect(problems).toEqual([]);
});

test("a program that fails is reported, and the conversation continues", async () => {
  const problems: string[] = [];
  const room = new Room();
  const record = [process.execPath, "-e", "process.exit(3)"] as const;
  using sound = new RoomSound(room, { record, play: record }, (text) => problems.push(text));
  const name = `sound-${crypto.randomUUID()}`;
  await room.connect(inject("livekitUrl"), await createToken(name, "me"), { autoSubscribe: true, dynacast: false });

  await sound.publishMicrophone();

  await expect.poll(() => problems).toEqual([`${process.execPath} exited with status 3`]);
  await room.disconnect();
});
