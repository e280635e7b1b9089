import { setImmediate as nextTick } from "node:timers/promises";
import { expect, test } from "vitest";
import { LoopShare } from "../../src/http/sse/loop-share.ts";

test("many streams that write at once let other work run in between, and take turns in order", async () => {
  const share = new LoopShare();
  const order: string[] = [];
  const write = async (stream: number) => {
    await share.turn(1024 * 1024);
    order.push(`stream ${stream}`);
  };
  const streams = Array.from({ length: 10 }, (_, index) => write(index));
  const other = async () => {
    for (let tick = 0; tick < 3; tick++) {
      await nextTick();
      order.push("other work");
    }
  };

  await Promise.all([...streams, other()]);

  expect(order.filter((each) => each !== "other work")).toEqual(streams.map((_, index) => `stream ${index}`));
  expect(order.indexOf("other work")).toBeLessThan(order.indexOf("stream 9"));
});
