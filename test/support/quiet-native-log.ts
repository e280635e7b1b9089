import { keepNativeLogOut } from "../../src/livekit/native-log.ts";

// As in a worker. Else each of its lines, some hundreds for a room that is joined and left, is read in JavaScript.
keepNativeLogOut();
