import { keepNativeLogOut } from "../../src/livekit/native-log.ts";

// Does the same as a worker. Otherwise, JavaScript would receive each line of the native library's log, several hundred
// for a room that is joined and left.
keepNativeLogOut();
