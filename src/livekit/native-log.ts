import { createRequire } from "node:module";

/** What @livekit/rtc-node loads the native library with. */
interface Bindings {
  livekitInitialize: (onEvent: (bytes: Uint8Array) => void, capturesLog: boolean, version: string) => void;
}

/**
 * Keeps the log of LiveKit's native library out of JavaScript: rtc-node has every line handed over as an event of its
 * own, down to the traces, some 50 in a turn, and reads none. The library writes to stderr instead what `RUST_LOG` asks
 * for, which is nothing unless it is set. Call it before the first room. Checked with @livekit/rtc-node 0.13.35.
 */
export function keepNativeLogOut(): void {
  process.env["RUST_LOG"] ||= "off";
  const require = createRequire(createRequire(import.meta.url).resolve("@livekit/rtc-node"));
  const bindings = require("@livekit/rtc-ffi-bindings") as Bindings;
  const initialize = bindings.livekitInitialize;
  bindings.livekitInitialize = (onEvent, _capturesLog, version) => initialize(onEvent, false, version);
}
