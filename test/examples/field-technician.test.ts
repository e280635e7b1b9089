import "../../src/testing/vitest.ts";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import technician from "../../examples/field-technician/parley.config.ts";
import { answer, throws } from "../../src/testing/device/behavior.ts";
import { scripted, type Script } from "../../src/testing/model/scripted.ts";
import { startTalk } from "../../src/testing/start-talk.ts";
import { forEachTest } from "../support/lifetimes.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { countLines } from "./count-lines.ts";

const folder = forEachTest(() => tempFolder());
const reportsFile = () => join(folder.path, "reports.jsonl");
const reports = () => readFile(reportsFile(), "utf8").catch(() => "");

const start = (script: Script) =>
  startTalk({
    config: { ...technician, toolSettings: { file_report: { file: reportsFile() } } },
    model: scripted(script),
    identity: "tom",
  });

test("all files of the technician's agent together are one page long", async () => {
  expect(await countLines("examples/field-technician")).toBeLessThan(120);
});

test("the phone reports its location and takes a photo, each when the technician allows it", async () => {
  await using talk = await start([
    { use: { get_location: {} } },
    { say: "Show me the valve.", use: { take_photo: { of: "the valve" } } },
    "It is closed. Open it by a quarter turn.",
  ]);
  const photo = { id: "IMG_7", text: "CLOSED" };
  talk.device({ tools: { get_location: answer({ latitude: 52.5, longitude: 13.4 }), take_photo: answer(photo) } });
  talk.permission("approve");

  const turn = await talk.say("There is no water");

  expect(turn).toHaveAsked("get_location", { title: "Share where this phone is" });
  expect(turn).toHaveAsked("take_photo", { title: "Take a photo of the valve" });
  expect(turn).toHaveCalled("take_photo", { of: "the valve" }, { ranOn: "client", result: photo });
  expect(turn).toSay("quarter turn");
});

test("a technician's no keeps the camera closed, and a phone without one is reported", async () => {
  const asks = { use: { take_photo: { of: "the valve" } } };
  await using talk = await start([asks, "Then tell me what it says.", asks, "Then tell me what it says."]);
  talk.device({ tools: { take_photo: throws("There is no camera", { code: "no_camera" }) } });

  talk.permission({ say: "no" });
  const refused = await talk.say("Is the valve open?");
  talk.permission({ say: "yes" });
  const failed = await talk.say("Look again");

  expect(refused).toHaveCalled("take_photo", {}, { errorCode: "permission_denied" });
  expect(failed).toHaveCalled("take_photo", {}, { errorCode: "no_camera" });
});

test("a routine report is filed immediately, an urgent one only after a yes", async () => {
  const report = (priority: string) => ({
    use: { file_report: { priority, text: "Valve leaks.", photos: ["IMG_7"] } },
  });
  await using talk = await start([report("routine"), "Filed.", report("urgent"), "Not filed."]);
  talk.permission("reject");

  const routine = await talk.say("File it");
  const urgent = await talk.say("And call the others");

  expect(routine.asked).toEqual([]);
  expect(routine).toHaveCalled("file_report", {}, { state: "success", result: { number: expect.any(String) } });
  expect(urgent).toHaveAsked("file_report", { title: "Call out the standby team" });
  expect((await reports()).split("\n").filter(Boolean)).toEqual([expect.stringContaining('"by":"tom"')]);
});
