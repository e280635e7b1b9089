import { createRequire } from "node:module";

/** The package through which @livekit/rtc-node loads the native library. */
interface Bindings {
  livekitInitialize: (onEvent: (bytes: Uint8Array) => void, capturesLog: boolean, version: string) => void;
}

/**
 * Keeps the log of LiveKit's native library out of JavaScript. Normally, rtc-node receives every log line as an event,
 * including traces (about 50 per turn), and ignores them all. After this call, the library writes the lines that
 * `RUST_LOG` selects (by default none) to stderr instead. Must be called before the first room is created. Checked with
 * @livekit/rtc-node 0.13.35.
 */
export function keepNativeLogOut(): void {
  process.env["RUST_LOG"] ||= "off";
  const require = createRequire(createRequire(import.meta.url).resolve("@livekit/rtc-node"));
  const bindings = require("@livekit/rtc-ffi-bindings") as Bindings;
  const initialize = bindings.livekitInitialize;
  bindings.livekitInitialize = (onEvent, _capturesLog, version) => initialize(onEvent, false, version);
}
