import { keepNativeLogOut } from "../../src/livekit/native-log.ts";

// As in a worker. Otherwise JavaScript reads each log line, several hundred for a room that is joined and left.
keepNativeLogOut();
