import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { decodeEnvelope } from "../../src/protocol/codec/decode-envelope.ts";
import { clockMs } from "../clock.ts";

/** One call to a client: when its request was sent, and how many ms passed until the worker accepted the result. */
export interface TimedCall {
  readonly sentAt: number;
  readonly ms: number;
}

// This module is preloaded into the sessions' processes. It expects one call at a time, and writes all calls into this
// folder on exit. The worker sends a result's Ack when it accepts the result, so the moment when the Ack is passed to
// LiveKit is recorded. Checked with @livekit/rtc-node 0.13.35, which calls `livekitRetrievePtr` for all bytes it sends.
const folder = process.env["BENCH_CALLS_FOLDER"];
if (folder !== undefined) {
  const calls: TimedCall[] = [];
  let sentAt: number | undefined;
  const require = createRequire(createRequire(import.meta.url).resolve("@livekit/rtc-node"));
  const bindings = require("@livekit/rtc-ffi-bindings") as { livekitRetrievePtr: (bytes: Uint8Array) => bigint };
  const retrieve = bindings.livekitRetrievePtr;
  bindings.livekitRetrievePtr = (bytes) => {
    const at = clockMs();
    const envelope = decodeEnvelope(bytes);
    const type = "message" in envelope ? envelope.message.type : undefined;
    if (type === "tool_use_request") sentAt = clockMs();
    if (type === "acknowledgement" && sentAt !== undefined) {
      calls.push({ sentAt, ms: at - sentAt });
      sentAt = undefined;
    }
    return retrieve(bytes);
  };
  process.on("exit", () => {
    if (calls.length > 0) writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(calls));
  });
}
